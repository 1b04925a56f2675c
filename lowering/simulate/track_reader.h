// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lowering/simulate/timeline_tracks.h"

namespace stowage {

/// A track that is asked for one cycle after another: what it found for one answers for those near it.
class TrackReader {
 public:
  explicit TrackReader(const TimelineTrack& track) : track_(&track) {}
  /// As TimelineTrack::until().
  [[nodiscard]] TrackTotals until(std::int64_t cycle);
  [[nodiscard]] std::int64_t until(std::int64_t cycle, TrackState state);

 private:
  void look_up(std::int64_t cycle);
  const TimelineTrack* track_;
  TimelineTrack::Stretch stretch_;
};

}  // namespace stowage
