// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/simulate/dma_order.h"

namespace stowage::test {

/// Fails where tracks made of a recording with repeats tell another thing than every event written down: in any cycle
/// in which something begins or ends on a core, and of what every slot has done up to then.
/// Returns whether something repeats on them.
bool check_tracks(const LoopNest& nest, const Target& target, DmaOrder order);

}  // namespace stowage::test
