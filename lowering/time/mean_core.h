// SPDX-License-Identifier: Apache-2.0
// One core's way through a nest, as if all cores were like it and every execution of a statement like all others: a
// computation takes its share of what the cost table says of its statement, a transfer is started, and waits take what
// is left of it then, as it shares the engine with what else is under way.
//
// Trips of a loop are followed one by one until they repeat, which they mostly do from the second or third on, and
// then only the last ones: the first load has nothing computed before it, and behind the last computation nothing is
// left to load. Where they do not repeat soon, as where what one core loads for all comes beside the stores of all of
// them in one trip and not in the next, the mean of some stands for the rest.
#pragma once

#include <vector>

#include "lowering/ir/loop_nest.h"
#include "lowering/time/core_costs.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/counts.h"

namespace stowage {

struct MeanWaits {
  /// Cycles in which the core waits, by row of the table: a wait for several transfers counts to the one that ends
  /// last. Those under way at the end of the nest are waited for there.
  IdVector<CostId, double> of_row;
  /// Share of the last transfers, behind all computation, that is waited for: cores that have computed less have begun
  /// to store sooner.
  double last = 1;
};

/// `table` says what is filled, but not yet what is hidden.
MeanWaits mean_waits(const LoopNest& nest, const NestCounts& counts, const CoreCosts& cores, const CostTable& table);

}  // namespace stowage
