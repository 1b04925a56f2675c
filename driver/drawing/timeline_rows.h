// SPDX-License-Identifier: Apache-2.0
// Rows of a timeline: a track between two cycles as boxes, at most a few for each pixel of its width.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ids.h"
#include "core/target.h"
#include "driver/drawing/sheet.h"
#include "lowering/simulate/timeline_tracks.h"

namespace stowage::drawing {

struct TrackLook {
  Ink ink = Ink::none;
  Hatch pattern = Hatch::none;
};
TrackLook look_of(TrackState state);

enum class TrackKind : std::uint8_t { core, slot };

/// What tips and links of boxes are made of.
struct RowContext {
  const LoopNest& nest;
  StepId step;
  const TimelineTracks& tracks;
  const Target& target;
  Units units;
};

/// Cycles in each state from one cycle to another.
TrackTotals between(const TimelineTrack& track, std::int64_t from, std::int64_t to);

/// Cycles of transfers of all cores.
struct TransfersUnderWay {
  std::int64_t gets = 0;
  std::int64_t puts = 0;
};
TransfersUnderWay transfers_between(const TimelineTracks& tracks, std::int64_t from, std::int64_t to);

/// `box` is the row's room from cycle `from` to cycle `to`; `buffer` that of a slot.
void add_track_row(Scene& scene, const RowContext& context, const TimelineTrack& track, TrackKind kind, const Box& box,
                   std::int64_t from, std::int64_t to, std::optional<BufferId> buffer = std::nullopt);
/// The parts of the time in which a core waits for transfers, or for the last of them to end.
void add_exposed_row(Scene& scene, const RowContext& context, const TimelineTrack& track, const Box& box,
                     std::int64_t from, std::int64_t to);
/// How many transfers are under way in the mean of each pixel, gets below puts; returns how many the full height is.
double add_engine_row(Scene& scene, const RowContext& context, const Box& box, std::int64_t from, std::int64_t to);

}  // namespace stowage::drawing
