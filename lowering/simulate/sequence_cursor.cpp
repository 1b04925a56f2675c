// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/sequence_cursor.h"

#include <algorithm>
#include <utility>

namespace stowage {

SequenceCursor::SequenceCursor(const RequestSequences& all, SequenceId sequence, Computations computations)
    : all_(&all), computations_(computations) {
  if (!all.sequences[sequence].parts.empty()) levels_.push_back({sequence, 0, 0});
}

SequenceStep SequenceCursor::next() {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    const SequencePart& part = part_at(level);
    if (part.request) {
      const Request& request = all_->requests[*part.request];
      done_once();
      return {&request, request.cycles};
    }
    const RequestSequence& inner = all_->sequences[part.sequence];
    const bool is_alike = computations_ == Computations::alike && inner.computes.has_value();
    if (inner.only_computes && (is_alike || computations_ == Computations::together)) {
      level.done = part.times - 1;
      const std::int64_t cycles = inner.cycles * part.times;
      done_once();
      return {is_alike ? &all_->requests[*inner.computes] : nullptr, cycles};
    }
    levels_.push_back({part.sequence, 0, 0});
  }
  return {};
}

void SequenceCursor::done_once() {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (++level.done < part_at(level).times) {
      repeated_ = std::min(repeated_, levels_.size() - 1);
      return;
    }
    level.done = 0;
    if (++level.part < all_->sequences[level.sequence].parts.size()) return;
    levels_.pop_back();
  }
}

std::size_t SequenceCursor::take_repeated() { return std::exchange(repeated_, no_level); }

}  // namespace stowage
