// SPDX-License-Identifier: Apache-2.0
// The graph of partial executions around the chosen partition: a state after each group of the plan, the chosen group
// as the edge to the next state, and beside it every other allowed group that could be executed next. Each path from
// nothing to everything is a partition; the plan's is lit. docs/fusion.md tells how strategies search it.
#pragma once

#include <optional>
#include <vector>

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

struct StrategyPath {
  struct Alternative {
    std::size_t candidate = 0;
    std::optional<int>
        rejoins;  ///< state to which it leads, if the path passes through it: the number of steps executed
  };
  /// State i is what is executed before step i of the program.
  struct Step {
    std::optional<std::size_t> chosen;  ///< candidate; absent if the record does not have the group
    /// Allowed groups that could come next instead, by their index in the record.
    std::vector<Alternative> alternatives;
  };
  IdVector<StepId, Step> steps;  ///< of the program
};
StrategyPath strategy_path(const LoadedPlan& plan);

/// Steps [first, last) that are drawn: `neighbours` before and after the chosen one.
std::pair<int, int> shown_steps(const StrategyPath& path, const Subject& chosen, int neighbours);

Drawing strategy_drawing(const LoadedPlan& plan, const StrategyPath& path, const Subject& chosen, int neighbours,
                         const Look& look, QSizeF room);

}  // namespace stowage::inspector
