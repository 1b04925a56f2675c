// SPDX-License-Identifier: Apache-2.0
#include "driver/session/other_plans.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/session/compile_way.h"
#include "driver/session/fixed_operators.h"
#include "driver/session/prepared_graph.h"
#include "driver/session/session.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/fixed_groups.h"

namespace stowage {
namespace {

/// Nothing where some operator or fixed group cannot be planned so.
std::optional<std::int64_t> cycles_of(const Alternative& alternative, const Graph& graph, const CompileWay& way,
                                      const std::vector<std::vector<OpId>>& fixed, const CostOptions& costs,
                                      const std::stop_token& stop) {
  const auto cost = way.backend->group_cost(alternative.planner, alternative.target,
                                            {costs.threads, costs.cache, nullptr, costs.evaluator});
  if (cost == nullptr) return std::nullopt;
  CandidateSet set = find_candidate_groups(graph, way.templates, cost.get(), {}, stop);
  const FixedCandidates person = find_fixed(set, fixed);
  if (!person.refused.empty()) return std::nullopt;
  Choice choice;
  if (person.candidates.empty()) {
    choice = way.strategy->choose(set, {}, stop);
  } else {
    choice = with_fixed(set, way.strategy->choose(with_fixed(set, person.candidates), {}, stop), person.candidates);
  }
  const std::int64_t cycles = total_cycles(set, choice.candidates);
  if (stop.stop_requested() || cycles >= CandidateSet::unplannable) return std::nullopt;
  return cycles;
}

/// With pictures as its planner has them.
std::optional<std::int64_t> cycles_of(const Alternative& alternative, const NetworkToCompare& network,
                                      const CompileWay& way, const CostOptions& costs, const std::stop_token& stop) {
  const std::string layout =
      alternative.planner == way.planner ? way.layout : way.backend->default_layout(alternative.planner);
  std::optional<Graph> other;
  if (layout != way.layout) other = laid_out_graph(network.folded, layout, alternative.target, {});
  const Graph& graph = other ? *other : network.prepared;
  Diagnostics unknown;  // a group of views that only this layout has: the other plan cannot have it
  const auto groups = find_groups(graph, network.groups, unknown);
  if (!groups) return std::nullopt;
  return cycles_of(alternative, graph, way, *groups, costs, stop);
}

}  // namespace

std::vector<OtherPlan> other_plans(const NetworkToCompare& network, const CompileWay& way, const std::string& strategy,
                                   std::int64_t cycles, const CostOptions& costs, const std::stop_token& stop) {
  std::vector<OtherPlan> others;
  std::optional<OtherPlan> fastest;
  for (const Alternative& alternative :
       way.backend->alternatives({way.planner, way.target, strategy, way.evaluator.by})) {
    const auto taken = cycles_of(alternative, network, way, costs, stop);
    if (!taken) continue;
    const OtherPlan other{alternative.planner, alternative.target.cores.count, *taken};
    if (!alternative.if_faster) {
      others.push_back(other);
    } else if (*taken < (fastest ? fastest->cycles : cycles)) {
      fastest = other;
    }
  }
  if (fastest) others.push_back(*fastest);
  return others;
}

std::vector<OtherPlanText> texts_of_others(const Compilation& compilation) {
  if (compilation.others.empty()) return {};
  const Program& program = compilation.program;
  const std::vector<Alternative> alternatives =
      backend_of(compilation).alternatives({program.planner, program.target, program.fusion, program.evaluated_by});
  std::vector<OtherPlanText> texts;
  for (const OtherPlan& other : compilation.others) {
    std::string result = fmt::format("{} cycles, {}", grouped_digits(other.cycles),
                                     seconds_text(static_cast<double>(other.cycles) / program.target.clock_hz));
    if (program.evaluated_by != EvaluatedBy::closed_form)
      result += fmt::format(", by {}", text_of(program.evaluated_by));
    const auto known = std::find_if(alternatives.begin(), alternatives.end(), [&](const Alternative& alternative) {
      return alternative.planner == other.planner && alternative.target.cores.count == other.cores;
    });
    if (known != alternatives.end()) {
      texts.push_back({known->title, std::move(result), known->meaning});
    } else {
      texts.push_back({fmt::format("by planner {} on {} cores", other.planner, other.cores), std::move(result), ""});
    }
  }
  return texts;
}

}  // namespace stowage
