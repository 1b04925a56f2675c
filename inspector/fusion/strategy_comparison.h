// SPDX-License-Identifier: Apache-2.0
// What every strategy would make of the network of a plan: groups, kernels, cycles, bytes, and which groups differ from
// the plan's. Computed on demand on a worker thread: candidates are costed once (from the cache on disk where they were
// costed before), each distinct group is planned once.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/progress.h"
#include "inspector/tables/table.h"

namespace stowage::inspector {

/// Operators that two partitions group otherwise, with the groups on both sides.
struct GroupingDifference {
  std::vector<std::vector<OpId>> here;   ///< groups of the plan
  std::vector<std::vector<OpId>> there;  ///< groups of the strategy, of the same operators
  std::int64_t cycles_here = 0;
  std::int64_t cycles_there = 0;
};

struct StrategyResult {
  std::string strategy;
  std::int64_t groups = 0;
  std::int64_t kernels = 0;
  std::int64_t cycles = 0;
  std::int64_t bytes = 0;                       ///< of DMA
  bool proved = false;                          ///< no partition into the candidates takes fewer cycles
  std::int64_t unplanned = 0;                   ///< groups that the planner refuses; not in the sums
  std::vector<GroupingDifference> differences;  ///< to the plan, in the order of its groups
};

/// In the order of strategy_names(). Empty when stopped.
std::vector<StrategyResult> compare_strategies(const LoadedPlan& plan, std::stop_token stop,
                                               const ProgressSink& progress);

Table strategies_table(const LoadedPlan& plan, const std::vector<StrategyResult>& results);
/// One row for every difference of every strategy to the plan.
Table differences_table(const LoadedPlan& plan, const std::vector<StrategyResult>& results);

}  // namespace stowage::inspector
