// SPDX-License-Identifier: Apache-2.0
// What each core computes and fills. Cores differ: at a border of a picture there are fewer rows and more padding, the
// last part of an uneven split is shorter, some have no part at all. The kernel waits for the one that takes longest in
// all; what takes longest of each statement by itself may be of different cores.
#pragma once

#include <cstdint>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/counts.h"

namespace stowage {

struct CoreCosts {
  CostTable rows;                       ///< of the core that takes longest: computations, then fills
  std::vector<std::int64_t> computing;  ///< by core: cycles of its computations and fills; 0 without a computation
};

CoreCosts core_costs(const LoopNest& nest, const ComputeCounts& computations, const FillCounts& fills,
                     const Target& target);

}  // namespace stowage
