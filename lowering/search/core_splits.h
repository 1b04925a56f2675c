// SPDX-License-Identifier: Apache-2.0
// The first round of a search: every split over the cores whose bound from below (core_grids.h) is less than the best
// plan so far. When the next bound reaches it, no split is left that could be better under algorithms 1 to 3.
//
// Most groups that could be fused compute again what they need of each other, a few of them thousands of times. After
// the first splits the search of such a group ends (work_again.h): what would be found from there on would hardly ever
// be chosen. That is judged for all cores, for half of them, a quarter and so on, each by itself, so that twice as many
// cores do not end the search where half of them go on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/search/tried_plans.h"

namespace stowage {

/// A grid of the output with what is known of it before it is planned.
struct CoreSplit {
  CoreGrid grid;
  bool shares_lines = false;

  [[nodiscard]] std::int64_t parts() const { return core_parts(grid.parallel); }
  [[nodiscard]] std::int64_t least_price() const { return price_of(grid.least_cycles, shares_lines); }
};

/// The splits of at most so many cores: all, half of them, a quarter and so on.
struct CoreHalving {
  std::int64_t cores = 0;
  std::int64_t before_judged = 0;  ///< so many of them are still to be looked at
  bool is_judged = false;
  bool computes_again = false;  ///< so much that no more of them are looked at, and no climb begins
};

/// What the other rounds begin from.
struct CoreSplits {
  std::vector<CoreSplit> all;         ///< those of the least bounds first; empty where a person has fixed the split
  std::vector<Tried> planned;         ///< one for every split that was planned, best first
  std::vector<CoreHalving> halvings;  ///< all cores first

  /// The best split of at most so many cores; null if none was planned.
  [[nodiscard]] const Tried* best_of(std::int64_t cores) const;
};

/// Plans the splits, from that of least bound on, or only the person's. `published` is what planner swtvm makes of the
/// group, if it can.
CoreSplits plan_splits(const SearchTask& task, TriedPlans& plans, const std::optional<Tried>& published);

/// What a person has fixed over a split, with every input loaded together by as many cores as can, where what that
/// saves of the bandwidth takes longer than the barriers of one transfer, or the way down the column.
Schedule on_split(const SearchTask& task, const std::vector<ParallelSplit>& parallel);

}  // namespace stowage
