// SPDX-License-Identifier: Apache-2.0
// The round of a search for overlap: climbs with slots, from the splits that take least with two slots for every tensor
// that moves more than once; where that is none, one iterator is cut so that some do. It comes before the climbs of
// what blocks, and leaves them little hope.
#pragma once

#include "lowering/search/core_splits.h"
#include "lowering/search/neighbours.h"
#include "lowering/search/tried_plans.h"

namespace stowage {

/// As climb_from_splits, for all cores, half of them and so on. Which splits are looked at depends on their number of
/// parts and their bounds alone, and only such are left out as cannot lead to anything better, or hardly can
/// (may_overtake): so what a target of fewer cores would find is among the results.
void overlap_from_splits(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours,
                         const CoreSplits& splits);

}  // namespace stowage
