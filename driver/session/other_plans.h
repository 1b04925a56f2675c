// SPDX-License-Identifier: Apache-2.0
// What a network would take if it were planned otherwise, for the summary of a compilation. What there is to compare
// with, the family of its target says (driver/backend/alternative.h).
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "driver/backend/backend.h"
#include "lowering/program/planned_cost.h"

namespace stowage {

struct Compilation;
struct CompileWay;

/// What another planner makes of the network on some of the target's cores, with the groups that the same strategy
/// chooses for it: the result of `compile` with that planner and `--set target.cores.count`.
struct OtherPlan {
  std::string planner;
  int cores = 0;
  std::int64_t cycles = 0;
  friend bool operator==(const OtherPlan&, const OtherPlan&) = default;
};

/// A network that is compiled.
struct NetworkToCompare {
  const Graph& folded;
  const Graph& prepared;  ///< the same with its pictures as they lie in the compilation
  const std::vector<FixedGroup>& groups;
};

/// The family's alternatives to compiling it `way`, with which it takes `cycles`, as far as they can plan it and are to
/// be told. `costs`: threads, cache and evaluator; choices are left alone.
std::vector<OtherPlan> other_plans(const NetworkToCompare& network, const CompileWay& way, const std::string& strategy,
                                   std::int64_t cycles, const CostOptions& costs, const std::stop_token& stop);

/// For a summary: the title of a row, what stands in it, and the sentence that says how it is to be read.
struct OtherPlanText {
  std::string title;
  std::string result;
  std::string meaning;  ///< empty: of an alternative that the family no longer has
};
/// What has said the cycles, as it has compared the groups, is named where it is not the closed form, by which the rest
/// of a summary is.
std::vector<OtherPlanText> texts_of_others(const Compilation& compilation);

}  // namespace stowage
