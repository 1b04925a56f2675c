// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/ldm_room.h"

#include <algorithm>
#include <set>

namespace stowage {
namespace {

constexpr std::int64_t address_bytes = 8;
constexpr std::int64_t reply_bytes = 4;

/// Parameters begin at a multiple of their alignment, wherever buffers end.
std::int64_t room_beside(std::int64_t parameters, const Target& target) {
  const std::int64_t alignment = alignment_of_parameters(target);
  return std::min(target.ldm.available(), (target.ldm.bytes - parameters) / alignment * alignment);
}

}  // namespace

int alignment_of_parameters(const Target& target) {
  return std::max(static_cast<int>(address_bytes), target.dma.alignment);
}

std::int64_t parameter_bytes(std::size_t tensors, std::size_t replies_of_transfers, const Target& target) {
  const std::int64_t alignment = alignment_of_parameters(target);
  const auto aligned = [&](std::int64_t bytes) { return ceil_div(bytes, alignment) * alignment; };
  // A struct of C has at least one member, and the parameters' own transfer replies too.
  const auto addresses = static_cast<std::int64_t>(std::max<std::size_t>(1, tensors));
  const auto replies = static_cast<std::int64_t>(replies_of_transfers) + 1;
  return aligned(addresses * address_bytes) + aligned(replies * reply_bytes);
}

std::int64_t ldm_for_buffers(const GroupModel& model, const Target& target, const IdVector<BufferId, int>& slots) {
  std::set<StageTensorId> tensors;
  std::size_t replies = 0;
  for (const BufferId b : model.buffers.ids()) {
    if (model.buffers[b].kind == ModelBuffer::Kind::intermediate) continue;
    tensors.insert(model.buffers[b].tensor);
    replies += slots.empty() ? 1 : static_cast<std::size_t>(slots[b]);
  }
  return room_beside(parameter_bytes(tensors.size(), replies, target), target);
}

std::size_t reply_words(const LoopNest& nest) {
  std::set<BufferId> awaited_by_slot;
  visit_statements(nest.body, [&](const Stmt& stmt) {
    const auto* wait = std::get_if<Wait>(&stmt.node);
    if (wait != nullptr && wait->slot) awaited_by_slot.insert(wait->slot->buffer);
  });
  std::size_t words = 0;
  for (const BufferId buffer : awaited_by_slot) {
    words += static_cast<std::size_t>(nest.buffers[buffer].slots);
  }
  visit_statements(nest.body, [&](const Stmt& stmt) {
    const auto* dma = std::get_if<Dma>(&stmt.node);
    if (dma != nullptr && !awaited_by_slot.contains(dma->buffer)) ++words;
  });
  return words;
}

std::int64_t ldm_for_buffers(const LoopNest& nest, const Target& target) {
  return room_beside(parameter_bytes(nest.tensors.size(), reply_words(nest), target), target);
}

}  // namespace stowage
