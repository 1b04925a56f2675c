// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/residents.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lowering/model/buffer_slots.h"

namespace stowage {

Residents::Residents(const GroupModel& model, const ResidentInputs& of_tensors, IteratorSizes ranges) {
  if (of_tensors.empty()) return;
  ranges_ = std::move(ranges);
  for (const BufferId b : model.buffers.ids()) {
    std::set<IteratorId> along;
    const auto found = of_tensors.find(model.buffers[b].name);
    if (found != of_tensors.end() && model.buffers[b].kind == ModelBuffer::Kind::input) {
      for (const std::string& name : found->second) {
        if (const auto iterator = model.iterator_named(name)) along.insert(*iterator);
      }
    }
    along_.push_back(std::move(along));
  }
}

bool Residents::is_along(BufferId buffer, IteratorId iterator) const {
  return !along_.empty() && along_[buffer].contains(iterator);
}

std::set<IteratorId> Residents::moving(const GroupModel& model, BufferId buffer) const {
  std::set<IteratorId> iterators = model.buffers[buffer].moved_by;
  std::erase_if(iterators, [&](IteratorId iterator) { return is_along(buffer, iterator); });
  return iterators;
}

IteratorSizes Residents::sizes_of(BufferId buffer, const IteratorSizes& tile) const {
  IteratorSizes sizes = tile;
  if (along_.empty()) return sizes;
  for (const IteratorId iterator : along_[buffer]) {
    sizes[iterator] = std::max(sizes[iterator], ranges_[iterator]);
  }
  return sizes;
}

std::string why_not_resident(const GroupModel& model, BufferId buffer, IteratorId iterator) {
  const ModelBuffer& wanted = model.buffers[buffer];
  if (wanted.kind != ModelBuffer::Kind::input) return "is not loaded";
  const std::string& name = model.iterators[iterator].name;
  if (!wanted.moved_by.contains(iterator)) return fmt::format("does not move with {}", name);
  if (frame_of(model, buffer) != buffer || wanted.shares_with) return "is overwritten in place, tile by tile";
  return why_one_slot(model, buffer);
}

std::vector<std::int64_t> buffer_extents(const GroupModel& model, BufferId buffer, const IteratorSizes& tile,
                                         const Residents& residents) {
  return buffer_extents(model, model.buffers[buffer], residents.sizes_of(buffer, tile));
}

IdVector<BufferId, std::int64_t> buffer_bytes(const GroupModel& model, const IteratorSizes& tile, int alignment,
                                              const IdVector<BufferId, int>& slots, const Residents& residents) {
  IdVector<BufferId, std::int64_t> bytes;
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    if (buffer.shares_with) {
      bytes.push_back(0);
      continue;
    }
    std::int64_t count = byte_size(model.list->tensors[buffer.tensor].type);
    for (const std::int64_t extent : buffer_extents(model, b, tile, residents)) count *= extent;
    const std::int64_t boxes = slots.empty() ? 1 : slots[b];
    bytes.push_back(ceil_div(count, alignment) * alignment * boxes);
  }
  return bytes;
}

}  // namespace stowage
