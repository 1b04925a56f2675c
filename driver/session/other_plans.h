// SPDX-License-Identifier: Apache-2.0
// What a network would take if it were planned otherwise, for the summary of a compilation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "driver/backend/backend.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/planned_cost.h"

namespace stowage {

/// What another planner makes of the network on some of the target's cores, with the groups that the same strategy
/// chooses for it: the result of `compile` with that planner and `--set target.cores.count`.
struct OtherPlan {
  std::string planner;
  int cores = 0;
  std::int64_t cycles = 0;
  friend bool operator==(const OtherPlan&, const OtherPlan&) = default;
};

/// Of a family that has the published planner (`swtvm`). Of a planner that is not the published one: the published one,
/// if it can plan the network. Of the published one: the number of cores among a half, a quarter and an eighth of them
/// with which it takes fewest cycles, if these are fewer than `cycles`, what it takes with all. `costs`: threads and
/// cache; choices are left alone.
std::vector<OtherPlan> other_plans(const Graph& graph, const std::vector<FusionTemplate>& templates,
                                   const Strategy& strategy, const Backend& backend, const std::string& planner,
                                   const Target& target, std::int64_t cycles,
                                   const std::vector<std::vector<OpId>>& fixed, const CostOptions& costs,
                                   const std::stop_token& stop);

/// For a summary: the title of a row, what stands in it, and the sentence that says how it is to be read.
struct OtherPlanText {
  std::string title;
  std::string result;
  std::string meaning;
};
/// `by` has said the cycles, as it has compared the groups; named where it is not the closed form, by which the rest of
/// a summary is.
OtherPlanText text_of(const OtherPlan& other, const Target& target, std::string_view strategy, EvaluatedBy by);

}  // namespace stowage
