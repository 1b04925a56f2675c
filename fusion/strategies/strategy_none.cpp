// SPDX-License-Identifier: Apache-2.0
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
    trace.add(group.name, GroupAccepted{group.template_name, names_each(graph, group.operators)});
  }
}

Choice NoFusion::choose(const CandidateSet& set, TraceSink trace, const std::stop_token&) const {
  Choice choice{alone(set), {}, {}, {}};
  note_choice(set, choice.candidates, trace);
  return choice;
}

}  // namespace stowage
