// SPDX-License-Identifier: Apache-2.0
// The grids that a group's output can be cut into, one part a core, each with a bound from below of what any plan over
// it can cost. A search that plans the grids in the order of their bounds may stop at the first bound that reaches the
// best plan, and has then found the best of all.
#pragma once

#include <cstdint>
#include <vector>

#include "core/target.h"
#include "lowering/group_model.h"
#include "lowering/schedule.h"

namespace stowage {

struct CoreGrid {
  std::vector<ParallelSplit> parallel;  ///< highest iterator first, those of one part left out
  std::int64_t least_cycles = 0;        ///< no plan over this grid takes fewer on the target
};

/// Every grid of at most target.cores parts that cuts spatial iterators into parts of equal size (the last one may be
/// smaller), those of least cycles first; among equals the higher iterators are cut first, as published.
///
/// The bound counts what no buffer sizes and no loop order can avoid: every core loads what its part of the output
/// needs once, in blocks no longer than that is contiguous in main memory, by at least as many transfers as fill its
/// scratchpad; stores its part; and computes it, at the rate of the time model.
std::vector<CoreGrid> core_grids(const GroupModel& model, const Target& target);

}  // namespace stowage
