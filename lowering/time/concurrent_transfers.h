// SPDX-License-Identifier: Apache-2.0
// Transfers that one core loads for others reach no more than what that core can take in, which is less than the DMA
// engine moves. Meanwhile the engine moves what was started beside them.
#pragma once

#include "lowering/ir/loop_nest.h"
#include "lowering/time/cost_table.h"

namespace stowage {

/// Transfers of one block between which nothing waits, computes or loops are under way together: they take as long as
/// the engine moves all of them, or as the core that moves most takes in all of its own. Notes in the rows of those
/// that are limited by their core how much of their time that is less (TransferCost::filled_cycles).
CostTable with_concurrent_transfers(CostTable table, const LoopNest& nest);

}  // namespace stowage
