// SPDX-License-Identifier: Apache-2.0
#include "lowering/swtvm/classification.h"

#include <algorithm>

namespace stowage {

Classification::Classification(const GroupModel& model) : model_(&model), current_(model.buffers.size(), 0) {
  for (const IteratorId i : model.iterators.ids()) open_.insert(i);
  // A dimension without an iterator (a broadcast operand's) offers nothing to grow.
  for (const BufferId b : current_.ids()) raise(b);
}

const std::set<IteratorId>& Classification::dimension(BufferId buffer, std::size_t from_lowest) const {
  const auto& dimensions = model_->buffers[buffer].iterators;
  return dimensions[dimensions.size() - 1 - from_lowest];
}

void Classification::raise(BufferId buffer) {
  const std::size_t dimensions = model_->buffers[buffer].iterators.size();
  while (current_[buffer] + 1 < dimensions) {
    const auto& here = dimension(buffer, current_[buffer]);
    if (std::any_of(here.begin(), here.end(), [&](IteratorId i) { return open_.contains(i); })) return;
    ++current_[buffer];
  }
}

std::vector<BufferId> Classification::along(IteratorId iterator) const {
  std::vector<BufferId> found;
  for (const BufferId b : current_.ids()) {
    if (model_->buffers[b].iterators.empty()) continue;
    if (dimension(b, current_[b]).contains(iterator)) found.push_back(b);
  }
  return found;
}

std::vector<BufferId> Classification::across(IteratorId iterator) const {
  std::vector<BufferId> found;
  for (const BufferId b : current_.ids()) {
    bool higher = false;
    for (std::size_t d = current_[b] + 1; d < model_->buffers[b].iterators.size(); ++d) {
      higher = higher || dimension(b, d).contains(iterator);
    }
    if (higher) found.push_back(b);
  }
  return found;
}

IteratorClass Classification::class_of(IteratorId iterator) const {
  if (!open_.contains(iterator)) return IteratorClass::whole;
  const bool num = !across(iterator).empty();
  if (!along(iterator).empty()) return num ? IteratorClass::comp : IteratorClass::size;
  return IteratorClass::num;
}

int Classification::affected_tensors(IteratorId iterator) const {
  int count = 0;
  for (const ModelBuffer& buffer : model_->buffers) count += buffer.moved_by.contains(iterator) ? 1 : 0;
  return count;
}

void Classification::mark_whole(IteratorId iterator) {
  open_.erase(iterator);
  for (const BufferId b : current_.ids()) {
    if (!model_->buffers[b].iterators.empty()) raise(b);
  }
}

void Classification::unmark_whole(IteratorId iterator) {
  open_.insert(iterator);
  for (const BufferId b : current_.ids()) {
    for (std::size_t d = 0; d < current_[b]; ++d) {
      if (dimension(b, d).contains(iterator)) {
        current_[b] = d;
        break;
      }
    }
  }
}

}  // namespace stowage
