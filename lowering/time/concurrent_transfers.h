// SPDX-License-Identifier: Apache-2.0
// What passes at once of transfers that are under way together: each takes its time from the call until data move, and
// what one core loads for others reaches no more than what that core can take in, which is less than the DMA engine
// moves. Meanwhile the engine moves what was started beside them.
#pragma once

#include "lowering/ir/loop_nest.h"
#include "lowering/time/cost_table.h"

namespace stowage {

/// Transfers of one block between which nothing waits, computes or loops are under way together: they take as long as
/// the engine moves all of them, or as the core that moves most takes in all of its own. They also start together,
/// those that block, and those into or out of one of several slots: on a target that tells issuing a call, which a core
/// does one after the other, from what passes then until data move. Notes in their rows how much of their time that is
/// less (TransferCost::filled_cycles).
CostTable with_concurrent_transfers(CostTable table, const LoopNest& nest);

}  // namespace stowage
