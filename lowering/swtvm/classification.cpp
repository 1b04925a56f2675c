// SPDX-License-Identifier: Apache-2.0
#include "lowering/swtvm/classification.h"

#include <algorithm>

namespace stowage {

std::string_view name_of(IteratorClass c) {
  switch (c) {
    case IteratorClass::size: return "size";
    case IteratorClass::num: return "num";
    case IteratorClass::comp: return "comp";
  }
  fail_check("unknown iterator class");
}

Classification::Classification(const GroupModel& model) : model_(&model), current_(model.buffers.size(), 0) {
  for (std::size_t i = 0; i < model.iterators.size(); ++i) open_.insert(static_cast<int>(i));
  // A dimension without an iterator (a broadcast operand's) offers nothing to grow.
  for (std::size_t b = 0; b < current_.size(); ++b) raise(b);
}

const std::set<int>& Classification::dimension(std::size_t buffer, std::size_t from_lowest) const {
  const auto& dimensions = model_->buffers[buffer].iterators;
  return dimensions[dimensions.size() - 1 - from_lowest];
}

void Classification::raise(std::size_t buffer) {
  const std::size_t dimensions = model_->buffers[buffer].iterators.size();
  while (current_[buffer] + 1 < dimensions) {
    const auto& here = dimension(buffer, current_[buffer]);
    if (std::any_of(here.begin(), here.end(), [&](int i) { return open_.contains(i); })) return;
    ++current_[buffer];
  }
}

IteratorClass Classification::class_of(int iterator) const {
  bool size = false;
  bool num = false;
  for (std::size_t b = 0; b < current_.size(); ++b) {
    const std::size_t dimensions = model_->buffers[b].iterators.size();
    if (dimensions == 0) continue;
    size = size || dimension(b, current_[b]).contains(iterator);
    for (std::size_t d = current_[b] + 1; d < dimensions; ++d) num = num || dimension(b, d).contains(iterator);
  }
  if (size) return num ? IteratorClass::comp : IteratorClass::size;
  return IteratorClass::num;
}

int Classification::affected_tensors(int iterator) const {
  int count = 0;
  for (const ModelBuffer& buffer : model_->buffers) count += buffer.all_iterators().contains(iterator) ? 1 : 0;
  return count;
}

void Classification::mark_whole(int iterator) {
  open_.erase(iterator);
  for (std::size_t b = 0; b < current_.size(); ++b) {
    if (!model_->buffers[b].iterators.empty()) raise(b);
  }
}

void Classification::unmark_whole(int iterator) {
  open_.insert(iterator);
  for (std::size_t b = 0; b < current_.size(); ++b) {
    for (std::size_t d = 0; d < current_[b]; ++d) {
      if (dimension(b, d).contains(iterator)) {
        current_[b] = d;
        break;
      }
    }
  }
}

}  // namespace stowage
