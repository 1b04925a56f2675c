// SPDX-License-Identifier: Apache-2.0
#include "driver/session/other_plans.h"

#include <fmt/format.h>

#include "core/number_text.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/fixed_groups.h"
#include "lowering/program/planners.h"

namespace stowage {
namespace {

/// Nothing where some operator or fixed group cannot be planned so.
std::optional<std::int64_t> cycles_of(const Graph& graph, const std::vector<FusionTemplate>& templates,
                                      const Strategy& strategy, const Backend& backend, const Target& target,
                                      const std::vector<std::vector<OpId>>& fixed, const CostOptions& costs,
                                      const std::stop_token& stop) {
  const auto cost = backend.group_cost(std::string(published_planner), target,
                                       {costs.threads, costs.cache, nullptr, costs.evaluator});
  if (cost == nullptr) return std::nullopt;
  CandidateSet set = find_candidate_groups(graph, templates, cost.get(), {}, stop);
  const FixedCandidates person = find_fixed(set, fixed);
  if (!person.refused.empty()) return std::nullopt;
  Choice choice;
  if (person.candidates.empty()) {
    choice = strategy.choose(set, {}, stop);
  } else {
    choice = with_fixed(set, strategy.choose(with_fixed(set, person.candidates), {}, stop), person.candidates);
  }
  const std::int64_t cycles = total_cycles(set, choice.candidates);
  if (stop.stop_requested() || cycles >= CandidateSet::unplannable) return std::nullopt;
  return cycles;
}

}  // namespace

std::vector<OtherPlan> other_plans(const Graph& graph, const std::vector<FusionTemplate>& templates,
                                   const Strategy& strategy, const Backend& backend, const std::string& planner,
                                   const Target& target, std::int64_t cycles,
                                   const std::vector<std::vector<OpId>>& fixed, const CostOptions& costs,
                                   const std::stop_token& stop) {
  const auto on = [&](int cores) {
    Target fewer = target;
    fewer.cores.count = cores;
    return cycles_of(graph, templates, strategy, backend, fewer, fixed, costs, stop);
  };
  if (planner != published_planner) {
    const auto found = on(target.cores.count);
    if (!found) return {};
    return {{std::string(published_planner), target.cores.count, *found}};
  }
  if (costs.evaluator.by == EvaluatedBy::learned) return {};  // what was learned holds for no other number of cores
  std::vector<OtherPlan> best;
  for (const int share : {2, 4, 8}) {
    if (target.cores.count < share) break;
    const auto found = on(target.cores.count / share);
    if (!found || *found >= (best.empty() ? cycles : best.front().cycles)) continue;
    best = {{std::string(published_planner), target.cores.count / share, *found}};
  }
  return best;
}

OtherPlanText text_of(const OtherPlan& other, const Target& target, std::string_view strategy, EvaluatedBy by) {
  std::string result = fmt::format("{} cycles, {}", grouped_digits(other.cycles),
                                   seconds_text(static_cast<double>(other.cycles) / target.clock_hz));
  if (by != EvaluatedBy::closed_form) result += fmt::format(", by {}", text_of(by));
  if (other.cores == target.cores.count) {
    return {
        fmt::format("by planner {}", other.planner), result,
        fmt::format("Planner {}, the published one, takes that with the groups that {} chooses for it, and pictures as "
                    "ONNX has them.",
                    other.planner, strategy)};
  }
  return {fmt::format("on {} of {} cores", other.cores, target.cores.count), result,
          fmt::format("On fewer cores planner {} is faster, because more cores load more in all; planner searched "
                      "chooses how many to use.",
                      other.planner)};
}

}  // namespace stowage
