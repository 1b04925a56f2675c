// SPDX-License-Identifier: Apache-2.0
// A recorded timeline (Recording::with_repeats) as tracks that can be asked for any span of time without writing out
// what repeats: one for each core, and one for each buffer slot of it. What a track answers is exact, also inside of
// what was carried on by calculation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowering/ir/loop_nest.h"
#include "lowering/simulate/simulate.h"
#include "lowering/simulate/timeline.h"

namespace stowage {

/// What goes on on a track; where nothing does, it is idle.
enum class TrackState : std::uint8_t {
  launch,  ///< of a core …
  compute,
  issue,
  wait_for_get,
  wait_for_put,
  wait_at_barrier,
  filling,  ///< of a slot: it is the target of a get that is under way …
  in_use,   ///< a computation touches it
  ready,    ///< it holds what was got or computed, and nothing happens to it
  draining  ///< it is the source of a put that is under way
};
constexpr std::size_t track_state_count = 10;
/// "wait for get".
std::string_view name_of(TrackState state);

/// Cycles by state.
using TrackTotals = std::array<std::int64_t, track_state_count>;

class TimelineTrack {
 public:
  /// Something that lasts. Where it repeats, its parts stand on the track once.
  struct Piece {
    std::int64_t from = 0;
    std::int64_t to = 0;
    TrackState state = TrackState::compute;  ///< of one with parts that in which it ends
    int item = -1;  ///< index into slices of a core's track, of a slot's into transfers, or if in use into slices
    std::optional<StatementId> statement;  ///< of the item
    std::size_t first_part = 0;
    std::size_t end_part = 0;     ///< 0: it has no parts
    std::int64_t shift = 0;       ///< from its parts' cycles to those of its first time
    std::int64_t period = 0;      ///< cycles from one time to the next
    std::int64_t times = 1;       ///< that it happens
    TrackTotals parts_once = {};  ///< of the parts, one time
    TrackTotals before = {};      ///< of the pieces before it in the same list
    [[nodiscard]] bool has_parts() const { return end_part > 0; }
  };

  /// What goes on in a cycle.
  struct Moment {
    TrackState state = TrackState::compute;
    std::optional<int> item;               ///< as of a piece
    std::optional<StatementId> statement;  ///< as of a piece
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t time = 0;   ///< which time of something that happens so many times, the innermost; from 1
    std::int64_t times = 1;  ///< 1: it does not repeat
  };

  /// Cycles in each state before a cycle.
  [[nodiscard]] TrackTotals until(std::int64_t cycle) const;
  /// Nothing where it is idle.
  [[nodiscard]] std::optional<Moment> at(std::int64_t cycle) const;
  /// Top-level pieces that happen several times, with the times before and behind them that are the same.
  [[nodiscard]] std::vector<Piece> repeats() const;
  /// Of the last piece; 0 without any.
  [[nodiscard]] std::int64_t end() const { return pieces_.empty() ? 0 : pieces_[end_ - 1].to; }

 private:
  friend class TrackMaker;
  friend class TrackReader;
  /// From the beginning of a piece to that of the next, at whatever depth of repeats: in one state at first, then idle.
  struct Stretch {
    std::int64_t from = 0;
    std::int64_t idle_from = 0;
    std::int64_t end = 0;
    TrackState state = TrackState::compute;
    TrackTotals before = {};
    [[nodiscard]] std::int64_t cycles_until(std::int64_t cycle) const {
      return (cycle < idle_from ? cycle : idle_from) - from;
    }
  };
  [[nodiscard]] Stretch stretch_at(std::int64_t cycle) const;
  /// Whether what goes on from a cycle on for so long is what goes on `shift` cycles later.
  [[nodiscard]] bool is_same(std::int64_t from, std::int64_t length, std::int64_t shift) const;
  /// The last of a list that begins at or before a cycle; `end` if none does.
  [[nodiscard]] std::size_t find(std::size_t first, std::size_t end, std::int64_t cycle) const;

  std::vector<Piece> pieces_;         ///< lists of parts; that of the track itself last
  std::vector<std::int64_t> starts_;  ///< of pieces: side by side, which is quicker to search
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

/// What a SlotId stands for.
struct NumberedSlot {
  BufferId buffer;
  int slot = 0;
};

/// Cores that do the same.
struct CoreTracks {
  std::vector<int> cores;  ///< numbers, ascending
  TimelineTrack core;
  IdVector<SlotId, TimelineTrack> slots;      ///< what happens to it, by whomever
  IdVector<SlotId, TimelineTrack> transfers;  ///< only the transfers that these cores start
};

struct TimelineTracks {
  Simulation simulation;
  Timeline timeline;
  IdVector<SlotId, NumberedSlot> slots;  ///< in the order of the buffers
  std::vector<CoreTracks> groups;        ///< by their first cores

  /// The group that a core is in; it has to be one that the nest uses.
  [[nodiscard]] std::size_t group_of(int core) const;
};

/// Of a timeline that `simulate` wrote with repeats for the nest.
TimelineTracks timeline_tracks(const LoopNest& nest, Simulation simulation, Timeline timeline);

}  // namespace stowage
