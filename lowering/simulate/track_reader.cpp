// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/track_reader.h"

#include <cstddef>

namespace stowage {

void TrackReader::look_up(std::int64_t cycle) {
  if (cycle < stretch_.from || cycle >= stretch_.end) stretch_ = track_->stretch_at(cycle);
}

TrackTotals TrackReader::until(std::int64_t cycle) {
  look_up(cycle);
  TrackTotals sum = stretch_.before;
  sum[static_cast<std::size_t>(stretch_.state)] += stretch_.cycles_until(cycle);
  return sum;
}

std::int64_t TrackReader::until(std::int64_t cycle, TrackState state) {
  look_up(cycle);
  const std::int64_t before = stretch_.before[static_cast<std::size_t>(state)];
  return before + (state == stretch_.state ? stretch_.cycles_until(cycle) : 0);
}

}  // namespace stowage
