// SPDX-License-Identifier: Apache-2.0
#include "tests/lowering/track_checks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "lowering/simulate/execution_point.h"
#include "lowering/simulate/timeline_tracks.h"
#include "lowering/simulate/track_reader.h"

namespace stowage::test {

namespace {

using Kind = Timeline::Slice::Kind;

std::pair<Simulation, Timeline> recorded(const LoopNest& nest, const Target& target, DmaOrder order,
                                         Recording recording) {
  Timeline timeline;
  SimulationOptions options;
  options.dma_order = order;
  options.timeline = &timeline;
  options.recording = recording;
  const Simulated simulated = simulate(nest, target, options);
  REQUIRE(std::holds_alternative<Simulation>(simulated));
  return {std::get<Simulation>(simulated), std::move(timeline)};
}

TrackState state_of(Kind kind) {
  switch (kind) {
    case Kind::compute: return TrackState::compute;
    case Kind::issue: return TrackState::issue;
    case Kind::wait_for_get: return TrackState::wait_for_get;
    case Kind::wait_for_put: return TrackState::wait_for_put;
    case Kind::wait_at_barrier: return TrackState::wait_at_barrier;
  }
  return TrackState::launch;
}

std::int64_t moved(const TrackTotals& totals) {
  return totals[static_cast<std::size_t>(TrackState::filling)] + totals[static_cast<std::size_t>(TrackState::draining)];
}

void check_core(const TimelineTracks& tracks, std::size_t core, const std::vector<Timeline::Slice>& slices) {
  INFO("core " << core);
  const TimelineTrack& track = tracks.groups[tracks.group_of(static_cast<int>(core))].core;
  TrackReader reader(track);
  TrackTotals sum = {};
  sum[static_cast<std::size_t>(TrackState::launch)] = tracks.simulation.launch_cycles;
  for (const Timeline::Slice& slice : slices) {
    REQUIRE(track.until(slice.from) == sum);
    REQUIRE(reader.until(slice.from) == sum);
    const std::int64_t middle = slice.from + (slice.to - slice.from) / 2;
    const TrackState state = state_of(slice.kind);
    REQUIRE(reader.until(middle, state) == sum[static_cast<std::size_t>(state)] + middle - slice.from);
    const auto moment = track.at(slice.from);
    REQUIRE(moment.has_value());
    const bool whole = slice.kind == Kind::compute  // several of one statement are one there
                           ? moment->from <= slice.from && moment->to >= slice.to
                           : moment->from == slice.from && moment->to == slice.to;
    const bool counted = moment->times > 1 ? moment->time >= 1 && moment->time <= moment->times : moment->time <= 1;
    const Timeline::Slice& known = tracks.timeline.slices.at(static_cast<std::size_t>(moment->item.value()));
    REQUIRE((whole && counted && moment->state == state_of(slice.kind) && known.statement == slice.statement));
    sum[static_cast<std::size_t>(state_of(slice.kind))] += slice.to - slice.from;
  }
  REQUIRE(track.until(tracks.simulation.cycles + 1) == sum);
  REQUIRE(reader.until(tracks.simulation.cycles + 1) == sum);
  for (const std::int64_t cycle : {track.end() / 2, track.end() / 3, std::int64_t{0}}) {
    REQUIRE(reader.until(cycle) == track.until(cycle));  // backwards
  }
  REQUIRE_FALSE(track.at(track.end()).has_value());
}

/// While a core works on a statement, that is where it is; while it waits, at a wait or before what comes next.
void check_points(const LoopNest& nest, const Target& target, const TimelineTracks& tracks, int core,
                  const std::vector<Timeline::Slice>& slices) {
  constexpr std::size_t looks = 16;
  for (std::size_t s = 0; s < slices.size(); s += 1 + slices.size() / looks) {
    const Timeline::Slice& slice = slices[s];
    INFO("core " << core << ", cycles " << slice.from << " to " << slice.to);
    for (const std::int64_t cycle : {slice.from, slice.to - 1}) {
      const ExecutionPoint point = execution_point(nest, target, tracks, core, cycle);
      if (slice.kind == Kind::compute || slice.kind == Kind::issue) REQUIRE(point.statement == slice.statement);
      const Stmt* const waits = point.statement ? find_statement(nest, *point.statement) : nullptr;
      if (slice.kind != Kind::wait_for_get && slice.kind != Kind::wait_for_put) continue;
      REQUIRE((waits != nullptr && std::holds_alternative<Wait>(waits->node)));
    }
  }
  REQUIRE(execution_point(nest, target, tracks, core, 0).statement == std::nullopt);  // the launch
  REQUIRE(execution_point(nest, target, tracks, core, tracks.simulation.cycles + 1).statement == std::nullopt);
}

void check_slot(const TimelineTrack& track, const std::vector<Timeline::Transfer>& transfers) {
  TrackReader reader(track);
  std::int64_t end = 0;
  std::int64_t sum = 0;  // cycles in which at least one was under way
  for (const Timeline::Transfer& transfer : transfers) {
    if (transfer.begun >= end) {
      REQUIRE(moved(track.until(transfer.begun)) == sum);
      REQUIRE(moved(reader.until(end)) == sum);
      REQUIRE(moved(reader.until(transfer.begun)) == sum);
      if (transfer.ended > transfer.begun) {
        const auto moment = track.at(transfer.begun);
        REQUIRE(moment.has_value());
        REQUIRE(moment->state == (transfer.is_put ? TrackState::draining : TrackState::filling));
      }
    }
    sum += std::max<std::int64_t>(0, transfer.ended - std::max(end, transfer.begun));
    end = std::max(end, transfer.ended);
  }
  REQUIRE(moved(track.until(track.end() + 1)) == sum);
}

}  // namespace

bool check_tracks(const LoopNest& nest, const Target& target, DmaOrder order) {
  const auto [simulation, every] = recorded(nest, target, order, Recording::every_event);
  auto [same, timeline] = recorded(nest, target, order, Recording::with_repeats);
  REQUIRE(same.cycles == simulation.cycles);
  REQUIRE(same.cores == simulation.cores);
  REQUIRE(same.statements == simulation.statements);
  const TimelineTracks tracks = timeline_tracks(nest, std::move(same), std::move(timeline));
  std::vector<std::vector<Timeline::Slice>> slices(simulation.cores.size());
  for (const Timeline::Slice& slice : every.slices) slices[static_cast<std::size_t>(slice.core)].push_back(slice);
  std::map<std::pair<int, SlotId>, std::vector<Timeline::Transfer>> transfers;  // by core
  for (const Timeline::Transfer& one : every.transfers) transfers[{one.core, one.slot}].push_back(one);
  for (std::size_t core = 0; core < slices.size(); ++core) {
    check_core(tracks, core, slices[core]);
    if (core == 0 || core + 1 == slices.size()) {
      check_points(nest, target, tracks, static_cast<int>(core), slices[core]);
    }
    const CoreTracks& group = tracks.groups[tracks.group_of(static_cast<int>(core))];
    for (const SlotId slot : tracks.slots.ids()) {
      auto& of_slot = transfers[{static_cast<int>(core), slot}];
      std::sort(of_slot.begin(), of_slot.end(), [](const auto& a, const auto& b) { return a.begun < b.begun; });
      INFO("core " << core << ", slot " << slot.index());
      check_slot(group.transfers[slot], of_slot);
      // A team's transfer fills the slots of all its cores.
      if (first_of_team(nest) == nullptr) check_slot(group.slots[slot], of_slot);
    }
  }
  return !tracks.timeline.repeats.empty();
}

}  // namespace stowage::test
