// SPDX-License-Identifier: Apache-2.0
// The climb of a search: from a plan to the best of its neighbours (neighbours.h), as long as something gets cheaper: a
// better plan further away may be missed. So what is found from the best split of all may cost more than what would be
// found from another one that needs fewer cores. Climbs therefore begin from the best split of at most all cores, of at
// most half of them, of a quarter and so on, where its bound leaves hope: so what would be found on a target of half as
// many cores is among the results, and twice as many cores are not slower.
//
// Left out are beginnings that even with all overlap they can have take three tenths longer than the best plan so far:
// that nothing is missed thereby is tested, not proved. And, on all cores and where work is computed again too, those
// of more than three times the best plan, or what is to be beaten: what is missed thereby are better plans of groups
// that stay far too slow to be chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/search/core_splits.h"
#include "lowering/search/neighbours.h"
#include "lowering/search/tried_plans.h"

namespace stowage {

/// What a climb looks at beside sizes, order, sharing and residents.
enum class ClimbSlots : std::uint8_t {
  kept,
  changed,  ///< one slot or two of a tensor
  deepened  ///< the same, and three and four; it begins where a climb with one and two has ended
};

/// First buffer sizes next to those of a plan: one iterator's longer or shorter; then, with these sizes, neighbouring
/// loops in exchange, who loads what together, and what stays in the LDM; at last one iterator's longer in exchange for
/// another's shorter. Returns where it ends.
Tried climb(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours, Tried at, ClimbSlots slots);

/// What a climb finds depends on its split alone. Left out are those that can lead to nothing better, and those of
/// fewer cores that hardly can.
void climb_from_splits(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours,
                       const CoreSplits& splits);

/// What a plan would take if computation hid all of its transfers that it can: no more than it takes, and near to what
/// it takes with slots where these need not make buffers much smaller.
std::int64_t if_overlapped(const Tried& tried);

/// Whether a climb from a split of fewer cores than all may lead below the best plan. What climbs bring is mostly the
/// overlap, which is counted already (if_overlapped), or is none. Not so where work is computed again: other sizes may
/// change that by much.
bool may_overtake(const TriedPlans& plans, const Tried& begin);

/// Whether what a climb would begin with takes so long that other sizes hardly bring it down to the best plan, or to
/// what is to be beaten. Mostly such a group computes again what takes it far longer than its operators apart.
bool is_out_of_reach(const SearchTask& task, const TriedPlans& plans, const Tried& begin);

}  // namespace stowage
