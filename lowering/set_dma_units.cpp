// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lowering/dma_alignment.h"
#include "lowering/passes.h"
#include "lowering/rewrite.h"

namespace stowage {

LoopNest set_dma_units(LoopNest nest, const Target& target) {
  const bool wide = std::all_of(nest.buffers.begin(), nest.buffers.end(),
                                [&](const Buffer& buffer) { return byte_size(buffer.type) >= target.dma_alignment; });
  if (wide) return nest;
  const auto unaligned = unaligned_transfers(nest, target);
  nest.body = edited<Dma>(nest.body, [&](const Stmt& stmt, Dma& dma) {
    const int bytes = byte_size(nest.buffers[static_cast<std::size_t>(dma.buffer)].type);
    const bool aligned = std::none_of(unaligned.begin(), unaligned.end(),
                                      [&](const UnalignedTransfer& t) { return t.statement == stmt.id; });
    if (bytes >= target.dma_alignment || !aligned) return false;
    dma.unit_bytes = target.dma_alignment;
    return true;
  });
  return nest;
}

}  // namespace stowage
