// SPDX-License-Identifier: Apache-2.0
// Which transfers of a nest the target's DMA can carry out: addresses on both sides, lengths, blocks and gaps must be
// multiples of dma_alignment. Tensors begin at memory lines and buffers at multiples of ldm_alignment, which are
// multiples of it too, so elements as wide as the alignment never break this; narrower ones may.
//
// Only whole units move, so a contiguous transfer of narrower elements is rounded up to the next one. Past the end of a
// tensor and of its buffer that touches nobody else's bytes; anywhere else such a transfer counts as unaligned.
#pragma once

#include <string>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

struct UnalignedTransfer {
  StatementId statement;  ///< the Dma
  DmaDirection direction = DmaDirection::get;
  StageTensorId tensor;
  int element_bytes = 1;  ///< of its tensor
  std::string reason;     ///< "get of A: 5 bytes of a row, no multiple of 4"
};

/// Whether transfers of some buffer's elements could begin or end between two units at all.
bool has_narrow_elements(const LoopNest& nest, const Target& target);

/// In program order; empty for a nest that the machine carries out. What could not be shown counts as unaligned.
std::vector<UnalignedTransfer> unaligned_transfers(const LoopNest& nest, const Target& target);

/// The first for which a plan is refused, or null: one of elements of a word (4 bytes) and more, which no machine that
/// there is moves between two units. Narrower ones are planned, with a warning, where no plan aligns them.
const UnalignedTransfer* find_refused(const std::vector<UnalignedTransfer>& unaligned);

}  // namespace stowage
