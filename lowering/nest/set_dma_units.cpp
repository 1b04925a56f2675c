// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"
#include "lowering/time/dma_alignment.h"

namespace stowage {
namespace {

bool has_units(const LoopNest& nest) {
  bool found = false;
  visit_statements(nest.body, [&](const Stmt& stmt) {
    const auto* dma = std::get_if<Dma>(&stmt.node);
    found = found || (dma != nullptr && dma->unit_bytes != 1);
  });
  return found;
}

}  // namespace

LoopNest set_dma_units(LoopNest nest, const Target& target) {
  if (!has_narrow_elements(nest, target) && !has_units(nest)) return nest;  // by far the most are so
  const auto unaligned = unaligned_transfers(nest, target);
  nest.body = edited<Dma>(nest.body, [&](const Stmt& stmt, Dma& dma) {
    const int bytes = byte_size(nest.buffers[dma.buffer].type);
    const bool aligned = std::none_of(unaligned.begin(), unaligned.end(),
                                      [&](const UnalignedTransfer& t) { return t.statement == stmt.id; });
    const int before =
        std::exchange(dma.unit_bytes, bytes < target.dma.alignment && aligned ? target.dma.alignment : 1);
    return dma.unit_bytes != before;
  });
  return nest;
}

}  // namespace stowage
