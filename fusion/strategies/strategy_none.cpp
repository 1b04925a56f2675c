// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "fusion/groups/group.h"
#include "fusion/strategies/strategies.h"

namespace stowage {

std::vector<std::size_t> alone(const CandidateSet& set) {
  std::vector<std::size_t> choice;
  for (const OpId op : set.facts.order) choice.push_back(set.single[op.index()]);
  return choice;
}

void note_choice(const CandidateSet& set, const std::vector<std::size_t>& choice, TraceSink trace) {
  if (!trace.listening()) return;
  const Graph& graph = set.facts.graph;
  for (const std::size_t candidate : choice) {
    const FusedOperator& group = set.of(candidate).group;
    const bool is_single = group.template_name == "single" || group.template_name == "view";
    std::string message =
        is_single ? graph.op(group.operators[0]).name +
                        (group.template_name == "view" ? " only re-indexes" : " is taken by no template")
                  : fmt::format("template {} takes {}", group.template_name, names_of(graph, group.operators));
    trace.add({"fusion", group.name, group.template_name, TraceOutcome::accepted, std::move(message), {}});
  }
}

Choice NoFusion::choose(const CandidateSet& set, TraceSink trace, const std::stop_token&) const {
  Choice choice{alone(set), {}, {}, {}};
  note_choice(set, choice.candidates, trace);
  return choice;
}

}  // namespace stowage
