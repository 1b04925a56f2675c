// SPDX-License-Identifier: Apache-2.0
// A nest whose tensors lie elsewhere in main memory.
#pragma once

#include "core/stage.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// The same statements over the tensors of `stages`, which are those of the nest one by one but for their sources in a
/// graph, their values and their strides. Whole DMA units are moved where the new places allow it.
LoopNest move_tensors(LoopNest nest, const StageList& stages, const Target& target);

}  // namespace stowage
