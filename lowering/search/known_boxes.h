// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lowering/model/group_model.h"

namespace stowage {

/// Boxes of buffers: a search asks for the same ones of thousands of sets of tiles.
class KnownBoxes {
 public:
  struct Box {
    std::vector<std::int64_t> extents;
    std::int64_t bytes = 0;  ///< made up to the alignment
  };

  /// `model` must outlive this.
  KnownBoxes(const GroupModel& model, int alignment)
      : model_(model), alignment_(alignment), known_(model.buffers.size()) {
    for (const BufferId b : model.buffers.ids()) {
      std::set<IteratorId> moved_by = model.buffers[b].moved_by;
      moved_by.merge(std::set<IteratorId>(model.buffers[frame_of(model, b)].moved_by));
      moved_by_.push_back({moved_by.begin(), moved_by.end()});
    }
  }

  /// Of tiles of these sizes, an input resident along some iterators, of which a core has these ranges.
  const Box& of(BufferId b, const IteratorSizes& sizes, const std::set<IteratorId>& resident,
                const IteratorSizes& ranges) {
    const bool is_input = model_.buffers[b].kind == ModelBuffer::Kind::input;
    const auto size_of = [&](IteratorId i) {
      return is_input && resident.contains(i) ? std::max(sizes[i], ranges[i]) : sizes[i];
    };
    key_.clear();
    for (const IteratorId i : moved_by_[b]) key_.push_back(size_of(i));
    auto& known = known_[b];
    if (const auto found = known.find(key_); found != known.end()) return found->second;
    IteratorSizes own;
    for (const IteratorId i : sizes.ids()) own.push_back(size_of(i));
    Box box{buffer_extents(model_, model_.buffers[b], own)};
    std::int64_t bytes = byte_size(model_.list->tensors[model_.buffers[b].tensor].type);
    for (const std::int64_t extent : box.extents) bytes *= extent;
    box.bytes = ceil_div(bytes, alignment_) * alignment_;
    return known.emplace(key_, std::move(box)).first->second;
  }

 private:
  const GroupModel& model_;
  const std::int64_t alignment_;
  IdVector<BufferId, std::vector<IteratorId>> moved_by_;
  IdVector<BufferId, std::map<std::vector<std::int64_t>, Box>> known_;
  std::vector<std::int64_t> key_;
};

}  // namespace stowage
