// SPDX-License-Identifier: Apache-2.0
// Which of a nest's transfers run beside computation, and how much of them that hides.
//
// A transfer into or out of one of several slots that is awaited in a later trip of its loop runs beside what its core
// does until then: it computes, and issues the calls of other such transfers. A steady trip takes the longer of the
// two, max(DMA, computation + issue), so that of a loop
//
//   hidden = min(cycles of its transfers, cycles that are computed or issued in it and hide no transfer of a loop
//   inside)
//
// A load is awaited at the start of the next trip, so that of other calls only those after its own hide it, and those
// by which one core loads for all; a store goes on until its slot is wanted again, beside the calls of all others.
//
// Both count steady trips only: the first load has nothing computed before it, and the last computation nothing left to
// load; the first result is computed while nothing is stored, and the last one is stored while nothing is computed.
// A store goes on while its loop waits for what it loads itself: as they share the bandwidth, so much of it as these
// gets take is not hidden by what is computed behind them.
//
// Transfers of inner loops are wanted first and are hidden first; those of the loops around take what bandwidth they
// leave, as all share it. Start-up of a transfer is hidden as its bytes are. Fills are computation: a core does them.
//
// Trips are taken to be alike. Of unequal ones (a short last tile, boxes that end at a border, trip counts that differ
// between the cores) each hides at most the lesser of what it moves and what it computes, and the sum of these may be
// less than what is said here. The simulation (lowering/simulate) has each trip as it is.
#pragma once

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/counts.h"

namespace stowage {

/// The costs of a nest's statements, with what of each transfer is hidden. What is hidden in all is at most the cycles
/// in which all transfers start and move, and at most those of all computations, fills and calls of transfers that are
/// not awaited in their trip.
CostTable overlapped_costs(const LoopNest& nest, const NestCounts& counts, const Target& target);

}  // namespace stowage
