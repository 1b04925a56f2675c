// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/fusion_steps.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/template_names.h"
#include "fusion/groups/fusion_record.h"
#include "fusion/groups/group.h"

namespace stowage::inspector {

namespace {

/// More steps teach nothing; what is left out is said.
constexpr std::size_t max_steps = 40;

class FusionSteps {
 public:
  FusionSteps(const LoadedPlan& plan, const FusedOperator& group)
      : record_(plan.compilation.fusion), graph_(plan.graph()), own_(group.operators.begin(), group.operators.end()) {}

  std::vector<ReplayStep> run() {
    match();
    search();
    return std::move(steps_);
  }

 private:
  [[nodiscard]] bool concerns(const CandidateRecord& candidate) const {
    return std::any_of(candidate.operators.begin(), candidate.operators.end(),
                       [&](OpId op) { return own_.contains(op); });
  }

  [[nodiscard]] std::string name_of_candidate(const CandidateRecord& candidate) const {
    const std::string names = names_of(graph_, candidate.operators);
    const std::string& first = candidate.templates.front();
    if (first == single_template) return fmt::format("{} alone", names);
    return first == view_template ? fmt::format("{} as a view", names) : fmt::format("template {} on {}", first, names);
  }

  ReplayStep& add(const char* algorithm, const char* mark, TraceOutcome outcome, std::string message) {
    ReplayStep step;
    step.algorithm = algorithm;
    step.mark = mark;
    step.outcome = outcome;
    step.message = std::move(message);
    return steps_.emplace_back(std::move(step));
  }

  void match() {
    std::vector<const CandidateRecord*> open;
    for (const CandidateRecord& candidate : record_.candidates) {
      if (concerns(candidate) && !candidate.templates.empty()) open.push_back(&candidate);
    }
    if (open.empty()) return;
    // The one that was chosen comes last: it is what the others lost to.
    std::stable_partition(open.begin(), open.end(),
                          [](const CandidateRecord* c) { return c->fate != CandidateFate::chosen; });
    const std::size_t left_out = open.size() > max_steps ? open.size() - max_steps : 0;
    ReplayStep& first =
        add("fusion", "candidate", TraceOutcome::step,
            open.size() == 1 ? std::string("One candidate holds these operators.")
                             : fmt::format("{} candidates hold one of these operators{}.", open.size(),
                                           left_out == 0 ? "" : fmt::format("; {} of them are not shown", left_out)));
    first.why = "Operators that run as one keep what is between them in the LDM.";
    for (std::size_t i = left_out; i < open.size(); ++i) show(*open[i]);
  }

  void show(const CandidateRecord& candidate) {
    const std::string name = name_of_candidate(candidate);
    if (candidate.fate == CandidateFate::refused) {
      const Decision refusal = candidate.refusals.empty() ? Decision() : candidate.refusals.front();
      ReplayStep& step = add("fusion", "refused", TraceOutcome::refused, fmt::format("{}: {}", name, refusal.reason));
      step.variables.push_back({"rule", refusal.rule, true});
      if (!refusal.flip.empty()) step.variables.push_back({"would be lifted by", refusal.flip, true});
      return;
    }
    const bool chosen = candidate.fate == CandidateFate::chosen;
    ReplayStep& step = add("fusion", chosen ? "chosen" : "outbid", chosen ? TraceOutcome::accepted : TraceOutcome::step,
                           fmt::format("{}: {}", name, chosen ? "chosen" : "outbid"));
    step.outbid = !chosen;
    if (record_.costed) step.variables.push_back({"predicted cycles", grouped_digits(candidate.cycles), true});
    for (const std::size_t other : candidate.outbid_by) {
      step.variables.push_back({"outbid by", name_of_candidate(record_.candidates[other]), true});
    }
    if (candidate.loss) {
      const std::int64_t loss = *candidate.loss;
      step.why = fmt::format("Taking it instead would make the program {} cycles {}.", grouped_digits(std::abs(loss)),
                             loss < 0 ? "faster" : "slower");
    } else if (chosen) {
      step.why = fmt::format("Strategy {} chose it.", record_.strategy);
    }
  }

  void search() {
    for (const SearchGraph& graph : record_.graphs) {
      std::size_t shown = 0;
      for (const SearchGraph::Edge& edge : graph.edges) {
        const CandidateRecord& candidate = record_.candidates[edge.candidate];
        if (!concerns(candidate) || candidate.templates.empty() || ++shown > max_steps) continue;
        show(graph, edge, candidate);
      }
    }
  }

  void show(const SearchGraph& graph, const SearchGraph::Edge& edge, const CandidateRecord& candidate) {
    const SearchGraph::Node& from = graph.nodes[edge.from];
    const SearchGraph::Node& to = graph.nodes[edge.to];
    ReplayStep& step =
        add("search", edge.on_path ? "taken" : "considered", edge.on_path ? TraceOutcome::accepted : TraceOutcome::step,
            fmt::format("{}: an edge of {} cycles, {}", name_of_candidate(candidate), grouped_digits(edge.cycles),
                        edge.on_path ? "on the cheapest path" : "on no cheapest path"));
    step.outbid = !edge.on_path;
    step.variables.push_back({"from", from.label, true});
    step.variables.push_back({"to", to.label, true});
    if (from.best_cycles) step.variables.push_back({"best of from", grouped_digits(*from.best_cycles), true});
    if (from.best_cycles) {
      step.variables.push_back({"this way to it", grouped_digits(*from.best_cycles + edge.cycles), true});
    }
    if (to.best_cycles) step.variables.push_back({"best of to", grouped_digits(*to.best_cycles), true});
    step.why = "A path of edges from the first node to the last executes every operator once; the cheapest is taken.";
  }

  const FusionRecord& record_;
  const Graph& graph_;
  std::set<OpId> own_;
  std::vector<ReplayStep> steps_;
};

}  // namespace

std::vector<ReplayStep> fusion_steps(const LoadedPlan& plan, std::optional<StepId> step) {
  return FusionSteps(plan, plan.step(step)->step->group).run();
}

}  // namespace stowage::inspector
