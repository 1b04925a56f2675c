// SPDX-License-Identifier: Apache-2.0
// What every strategy would make of the network of a plan: groups, kernels, cycles, bytes, and which groups differ from
// the plan's. Computed on demand on a worker thread: the network is fused and planned by each as `compile` does it;
// what the planner chose for a group is found once.
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
  std::string refusal;  ///< why there is no plan; then only groups and differences without cycles are known
  std::int64_t groups = 0;
  std::int64_t kernels = 0;
  std::int64_t cycles = 0;
  std::int64_t bytes = 0;                       ///< of DMA
  bool proved = false;                          ///< no partition into the candidates takes fewer cycles
  std::vector<GroupingDifference> differences;  ///< to the plan, in the order of its groups
};

/// In the order of strategy_names(). Empty when stopped.
std::vector<StrategyResult> compare_strategies(const LoadedPlan& plan, std::stop_token stop,
                                               const ProgressSink& progress);

Table strategies_table(const LoadedPlan& plan, const std::vector<StrategyResult>& results);
/// One row for every difference of every strategy to the plan.
Table differences_table(const LoadedPlan& plan, const std::vector<StrategyResult>& results);

}  // namespace stowage::inspector
