// SPDX-License-Identifier: Apache-2.0
// Which of a nest's transfers run beside computation, and how much of them that hides.
//
// A transfer into or out of one of several slots that is awaited in a later trip of its loop runs beside what its core
// does until then: it computes, and issues the calls of other transfers. Its start-up passes beside what others move.
//
// How much of it that hides follows from one core's way through the nest (lowering/time/mean_core.h): what the core
// does not wait for is hidden. Stores that go on while loads are wanted take their share of the engine from these, and
// what one core loads for all has one share beside the shares of all that store. The first load has nothing computed
// before it, and the last computation nothing left to load, but the store before it beside it.
//
// Of the last transfers of a store, one each time that its loops are entered, nothing is hidden: they are waited for at
// the end. Only of the very last one is hidden what cores that have computed less store while others compute still.
// A store goes on while its loop waits for what it loads itself: as they share the bandwidth, so much of it as these
// gets take is not hidden by what is computed behind them.
//
// Trips and cores are taken to be alike. Of unequal ones (a short last tile, boxes that end at a border, trip counts
// that differ between the cores) each hides at most the lesser of what it moves and what it computes, and the sum of
// these may be less than what is said here. The simulation (lowering/simulate) has each trip and core as it is.
#pragma once

#include <cstdint>
#include <functional>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/counts.h"

namespace stowage {

/// The costs of a nest's statements, with what of each transfer is hidden. What is hidden in all is at most the cycles
/// in which the transfers that are not awaited in their trip start and move, and at most those of all computations and
/// fills and of the calls and start-up of such transfers.
CostTable overlapped_costs(const LoopNest& nest, const NestCounts& counts, const Target& target);

/// The same, or the table without anything hidden where `goes_on` says no to that and to the cycles of it that can be
/// hidden at most.
using GoesOn = std::function<bool(const CostTable& all, std::int64_t most_hidden)>;
CostTable overlapped_costs(const LoopNest& nest, const NestCounts& counts, const Target& target, const GoesOn& goes_on);

}  // namespace stowage
