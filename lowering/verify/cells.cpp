// SPDX-License-Identifier: Apache-2.0
#include "lowering/verify/cells.h"

#include <fmt/format.h>

namespace stowage {
namespace {

constexpr std::size_t max_cells = 1024;

}  // namespace

Cells::Cells(const LoopNest& nest) : nest_(nest) {
  for (const BufferId b : nest.buffers.ids()) {
    const Buffer& buffer = nest.buffers[b];
    first_.push_back(cells_.next_id());
    for (int slot = 0; slot < buffer.slots && cells_.size() <= max_cells; ++slot) {
      cells_.push_back({b, slot, buffer.offset + slot * buffer.slot_bytes(), buffer.slot_bytes()});
    }
  }
  too_many_ = cells_.size() > max_cells;
  if (too_many_) return;
  for (const Cell& a : cells_) {
    IdVector<SlotId, bool> row;
    for (const Cell& b : cells_) row.push_back(a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes);
    overlap_.push_back(std::move(row));
  }
}

std::string Cells::name(SlotId id) const {
  const Cell& cell = cells_[id];
  const Buffer& named = nest_.buffers[cell.buffer];
  return named.slots == 1 ? "buffer " + named.name : fmt::format("slot {} of buffer {}", cell.slot, named.name);
}

}  // namespace stowage
