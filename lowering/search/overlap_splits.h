// SPDX-License-Identifier: Apache-2.0
// The round of a search for overlap: climbs with slots, from the splits that take least with two slots for every tensor
// that moves more than once; where that is none, one iterator is cut so that some do. It comes before the climbs of
// what blocks, and leaves them little hope.
#pragma once

#include <vector>

#include "lowering/search/core_splits.h"
#include "lowering/search/neighbours.h"
#include "lowering/search/tried_plans.h"

namespace stowage {

/// Where climbs with two slots ended, of those from splits of at most so many cores each: all, half of them and so on.
using EndsOfHalvings = std::vector<std::vector<Tried>>;

/// As climb_from_splits, for all cores, half of them and so on. Which splits are looked at depends on their number of
/// parts and their bounds alone, and only such are left out as cannot lead to anything better, or hardly can
/// (may_overtake): so what a target of fewer cores would find is among the results.
EndsOfHalvings overlap_from_splits(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours,
                                   const CoreSplits& splits);

/// Climbs on from these ends with three and four slots. They gain where trips take unequally long, a few hundredths
/// mostly, and what they take of the LDM would keep a climb from what gains more: so they come last of all, where
/// nothing else depends on what they find. Each halving's ends are judged by the best of them alone, for the sake of
/// targets of fewer cores.
void deepen(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours, const EndsOfHalvings& ends);

}  // namespace stowage
