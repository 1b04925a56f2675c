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

std::int64_t parameter_bytes(std::size_t tensors, std::size_t transfers, const Target& target) {
  const std::int64_t alignment = alignment_of_parameters(target);
  const auto aligned = [&](std::int64_t bytes) { return ceil_div(bytes, alignment) * alignment; };
  // A struct of C has at least one member, and the parameters' own transfer replies too.
  const auto addresses = static_cast<std::int64_t>(std::max<std::size_t>(1, tensors));
  const auto replies = static_cast<std::int64_t>(transfers) + 1;
  return aligned(addresses * address_bytes) + aligned(replies * reply_bytes);
}

std::int64_t ldm_for_buffers(const GroupModel& model, const Target& target) {
  std::set<int> tensors;
  std::size_t transfers = 0;
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.kind == ModelBuffer::Kind::intermediate) continue;
    tensors.insert(buffer.tensor);
    ++transfers;
  }
  return room_beside(parameter_bytes(tensors.size(), transfers, target), target);
}

std::int64_t ldm_for_buffers(const LoopNest& nest, const Target& target) {
  std::size_t transfers = 0;
  visit_statements(nest.body, [&](const Stmt& stmt) { transfers += std::holds_alternative<Dma>(stmt.node) ? 1 : 0; });
  return room_beside(parameter_bytes(nest.tensors.size(), transfers, target), target);
}

}  // namespace stowage
