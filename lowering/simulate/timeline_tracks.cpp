// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/timeline_tracks.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "lowering/ir/mesh.h"

namespace stowage {

namespace {

using Piece = TimelineTrack::Piece;

void add(TrackTotals& sum, const TrackTotals& other, std::int64_t times = 1) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i] * times;
}

std::int64_t& cycles_in(TrackTotals& totals, TrackState state) { return totals[static_cast<std::size_t>(state)]; }

TrackState state_of(Timeline::Slice::Kind kind) {
  using Kind = Timeline::Slice::Kind;
  switch (kind) {
    case Kind::compute: return TrackState::compute;
    case Kind::issue: return TrackState::issue;
    case Kind::wait_for_get: return TrackState::wait_for_get;
    case Kind::wait_for_put: return TrackState::wait_for_put;
    case Kind::wait_at_barrier: return TrackState::wait_at_barrier;
  }
  fail_check("unknown kind of slice");
}

bool moves(TrackState state) { return state == TrackState::filling || state == TrackState::draining; }

/// Whether a slot holds something between two things that happen to it: what was got or computed, until it is replaced
/// or written back.
bool holds_between(TrackState before, TrackState after) {
  return before != TrackState::draining && after != TrackState::filling;
}

/// Something recorded that a track shows, with its places in the record.
struct Recorded {
  Piece piece;
  std::size_t slice = 0;     ///< how many slices were written before it
  std::size_t transfer = 0;  ///< how many transfers were
  bool is_transfer = false;
};

bool is_in(const Recorded& one, const Timeline::Repeat& repeat) {
  return one.is_transfer ? one.transfer >= repeat.first_transfer && one.transfer < repeat.end_transfer
                         : one.slice >= repeat.first_slice && one.slice < repeat.end_slice;
}

/// A repeat with those in it.
struct RepeatNode {
  const Timeline::Repeat* repeat = nullptr;
  std::vector<RepeatNode> inner;
};

bool lies_in(const Timeline::Repeat& inner, const Timeline::Repeat& outer) {
  return inner.first_slice >= outer.first_slice && inner.end_slice <= outer.end_slice &&
         inner.first_transfer >= outer.first_transfer && inner.end_transfer <= outer.end_transfer;
}

std::vector<RepeatNode> nested(const std::vector<Timeline::Repeat>& repeats) {
  std::vector<RepeatNode> top;
  for (const Timeline::Repeat& repeat : repeats) {
    if (repeat.period == 0) continue;  // nothing that takes time
    RepeatNode node{&repeat, {}};
    const auto first =
        std::find_if(top.begin(), top.end(), [&](const RepeatNode& one) { return lies_in(*one.repeat, repeat); });
    node.inner.assign(std::make_move_iterator(first), std::make_move_iterator(top.end()));
    top.erase(first, top.end());
    top.push_back(std::move(node));
  }
  return top;
}

}  // namespace

class TrackMaker {
 public:
  /// `between`: whether the slot is ready between what happens to it.
  TrackMaker(const std::vector<RepeatNode>& repeats, bool between) : repeats_(repeats), between_(between) {}

  TimelineTrack run(std::vector<Recorded> recorded) {
    std::vector<Piece> top = list(std::move(recorded), repeats_);
    std::tie(track_.first_, track_.end_) = write(std::move(top));
    return std::move(track_);
  }

 private:
  /// Pieces of what is recorded, ascending, with repeats as one or two of them.
  std::vector<Piece> list(std::vector<Recorded> recorded, const std::vector<RepeatNode>& repeats) {
    std::vector<Piece> made;
    for (const RepeatNode& node : repeats) {
      std::vector<Recorded> inside;
      std::vector<Recorded> outside;
      for (Recorded& one : recorded) (is_in(one, *node.repeat) ? inside : outside).push_back(std::move(one));
      recorded = std::move(outside);
      if (!inside.empty()) add_repeat(*node.repeat, list(std::move(inside), node.inner), made);
    }
    for (Recorded& one : recorded) made.push_back(one.piece);
    std::stable_sort(made.begin(), made.end(), [](const Piece& a, const Piece& b) { return a.from < b.from; });
    return without_overlap(std::move(made));
  }

  /// All times but the last, and the last: what comes behind it may be another thing.
  void add_repeat(const Timeline::Repeat& repeat, std::vector<Piece> parts, std::vector<Piece>& made) {
    Piece last;
    last.from = parts.front().from + repeat.period * repeat.times;
    last.to = parts.back().to + repeat.period * repeat.times;
    last.shift = repeat.period * repeat.times;
    last.period = repeat.period;
    last.state = parts.back().state;
    Piece others = last;
    others.from = parts.front().from;
    others.to = last.from;
    others.shift = 0;
    others.times = repeat.times;
    Piece next = parts.front();
    next.from += repeat.period;
    const std::size_t count = parts.size();
    add_between(parts, parts.back(), next);
    const bool is_held = parts.size() > count;
    const auto [first, end] = write(std::move(parts));
    others.first_part = last.first_part = first;
    others.end_part = end;
    last.end_part = is_held ? end - 1 : end;
    for (Piece* piece : {&others, &last}) piece->parts_once = totals(piece->first_part, piece->end_part);
    made.push_back(others);
    made.push_back(last);
  }

  /// In which a piece begins; its state is that in which it ends.
  [[nodiscard]] TrackState first_state(const Piece& piece) const {
    return piece.has_parts() ? first_state(track_.pieces_[piece.first_part]) : piece.state;
  }

  /// A slot may be touched by several transfers at once; the later one begins to be shown when the earlier one ends.
  static std::vector<Piece> without_overlap(std::vector<Piece> pieces) {
    std::vector<Piece> made;
    for (Piece& piece : pieces) {
      if (!made.empty() && piece.from < made.back().to) {
        // Transfers count before computations beside them; of the same, what comes first.
        if (moves(piece.state) && !moves(made.back().state) && !made.back().has_parts()) {
          made.back().to = piece.from;
        } else if (!piece.has_parts()) {
          piece.from = made.back().to;
        } else {
          made.back().to = piece.from;
        }
        if (made.back().to <= made.back().from) made.pop_back();
      }
      if (piece.to > piece.from) made.push_back(piece);
    }
    return made;
  }

  void add_between(std::vector<Piece>& pieces, const Piece& before, const Piece& after) const {
    if (!between_ || after.from <= before.to || !holds_between(before.state, first_state(after))) return;
    Piece ready;
    ready.from = before.to;
    ready.to = after.from;
    ready.state = TrackState::ready;
    pieces.push_back(ready);
  }

  void fill_between(std::vector<Piece>& pieces) const {
    std::vector<Piece> made;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      made.push_back(pieces[i]);
      if (i + 1 < pieces.size()) add_between(made, pieces[i], pieces[i + 1]);
    }
    pieces = std::move(made);
  }

  [[nodiscard]] TrackTotals totals(std::size_t first, std::size_t end) const {
    TrackTotals sum = {};
    if (first == end) return sum;
    sum = track_.pieces_[end - 1].before;
    add(sum, totals_of(track_.pieces_[end - 1]));
    return sum;
  }

  static TrackTotals totals_of(const Piece& piece) {
    TrackTotals sum = {};
    if (piece.has_parts()) {
      add(sum, piece.parts_once, piece.times);
    } else {
      cycles_in(sum, piece.state) = piece.to - piece.from;
    }
    return sum;
  }

  std::pair<std::size_t, std::size_t> write(std::vector<Piece> pieces) {
    fill_between(pieces);
    const std::size_t first = track_.pieces_.size();
    TrackTotals before = {};
    for (Piece& piece : pieces) {
      piece.before = before;
      add(before, totals_of(piece));
      track_.pieces_.push_back(piece);
      track_.starts_.push_back(piece.from);
    }
    return {first, track_.pieces_.size()};
  }

  const std::vector<RepeatNode>& repeats_;
  bool between_ = false;
  TimelineTrack track_;
};

std::size_t TimelineTrack::find(std::size_t first, std::size_t end, std::int64_t cycle) const {
  const auto begin = starts_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto behind = std::upper_bound(begin, starts_.begin() + static_cast<std::ptrdiff_t>(end), cycle);
  return behind == begin ? end : static_cast<std::size_t>(behind - starts_.begin()) - 1;
}

TimelineTrack::Stretch TimelineTrack::stretch_at(std::int64_t cycle) const {
  std::size_t first = first_;
  std::size_t end = end_;
  std::int64_t shifted = 0;  // from cycles of the list to those of the track
  Stretch stretch;
  stretch.end = std::numeric_limits<std::int64_t>::max();
  while (true) {
    const std::size_t found = find(first, end, cycle);
    if (found == end) {
      if (first < end) stretch.end = std::min(stretch.end, starts_[first] + shifted);
      stretch.from = stretch.idle_from = cycle + shifted;
      return stretch;
    }
    const Piece& piece = pieces_[found];
    if (found + 1 < end) stretch.end = std::min(stretch.end, starts_[found + 1] + shifted);
    add(stretch.before, piece.before);
    if (!piece.has_parts()) {
      stretch.from = piece.from + shifted;
      stretch.idle_from = piece.to + shifted;
      stretch.state = piece.state;
      return stretch;
    }
    const std::int64_t time = std::min((cycle - piece.from) / piece.period, piece.times - 1);
    if (time + 1 < piece.times) {
      stretch.end = std::min(stretch.end, piece.from + (time + 1) * piece.period + shifted);
    }
    add(stretch.before, piece.parts_once, time);
    cycle -= piece.shift + time * piece.period;
    shifted += piece.shift + time * piece.period;
    first = piece.first_part;
    end = piece.end_part;
  }
}

TrackTotals TimelineTrack::until(std::int64_t cycle) const {
  const Stretch stretch = stretch_at(cycle);
  TrackTotals sum = stretch.before;
  cycles_in(sum, stretch.state) += stretch.cycles_until(cycle);
  return sum;
}

std::optional<TimelineTrack::Moment> TimelineTrack::at(std::int64_t cycle) const {
  std::size_t first = first_;
  std::size_t end = end_;
  Moment moment;
  std::int64_t shifted = 0;
  while (true) {
    const std::size_t found = find(first, end, cycle);
    if (found == end || cycle >= pieces_[found].to) return std::nullopt;
    const Piece& piece = pieces_[found];
    if (!piece.has_parts()) {
      moment.state = piece.state;
      if (piece.item >= 0) moment.item = piece.item;
      moment.statement = piece.statement;
      moment.from = piece.from + shifted;
      moment.to = piece.to + shifted;
      return moment;
    }
    const std::int64_t time = std::min((cycle - piece.from) / piece.period, piece.times - 1);
    // The last time has a piece of its own behind that of all the others.
    const std::int64_t before = piece.shift / piece.period;
    moment.time = before + time + 1;
    moment.times = before > 0 ? before + 1 : piece.times + 1;
    shifted += piece.shift + time * piece.period;
    cycle -= piece.shift + time * piece.period;
    first = piece.first_part;
    end = piece.end_part;
  }
}

bool TimelineTrack::is_same(std::int64_t from, std::int64_t length, std::int64_t shift) const {
  constexpr int most = 4096;  // looks; what has more in it is not told from something else
  std::int64_t cycle = from;
  for (int looks = 0; looks < most; ++looks) {
    if (cycle >= from + length) return true;
    const auto one = at(cycle);
    const auto other = at(cycle + shift);
    if (one.has_value() != other.has_value()) return false;
    if (!one) {
      ++cycle;
      continue;
    }
    const bool is_same =
        one->state == other->state && one->statement == other->statement && one->to + shift == other->to;
    if (!is_same) return false;
    cycle = one->to;
  }
  return false;
}

std::vector<TimelineTrack::Piece> TimelineTrack::repeats() const {
  std::vector<Piece> found;
  for (std::size_t i = first_; i < end_; ++i) {
    if (!pieces_[i].has_parts()) continue;
    if (pieces_[i].shift == 0) {
      found.push_back(pieces_[i]);
    } else if (!found.empty()) {
      found.back().to = pieces_[i].to;
      ++found.back().times;
    }
  }
  const std::int64_t begin = pieces_.empty() || pieces_[first_].state != TrackState::launch ? 0 : pieces_[first_].to;
  std::int64_t free = begin;
  for (Piece& piece : found) {
    const std::int64_t period = piece.period;
    while (piece.from - period >= free && is_same(piece.from - period, period, period)) {
      piece.from -= period;
      ++piece.times;
    }
    std::int64_t next = piece.from + piece.times * period;
    while (next + period <= end() && is_same(next - period, period, period)) {
      next += period;
      ++piece.times;
    }
    piece.to = std::max(piece.to, next);
    free = piece.to;
  }
  // One that was taken for the next part of the one before it.
  std::vector<Piece> apart;
  for (const Piece& piece : found) {
    if (apart.empty() || piece.from >= apart.back().to) apart.push_back(piece);
  }
  return apart;
}

std::string_view name_of(TrackState state) {
  static constexpr std::array<std::string_view, track_state_count> names = {
      "launch",          "compute", "issue",  "wait for get", "wait for put",
      "wait at barrier", "filling", "in use", "ready",        "draining"};
  return names[static_cast<std::size_t>(state)];
}

std::size_t TimelineTracks::group_of(int core) const {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<int>& cores = groups[group].cores;
    if (std::find(cores.begin(), cores.end(), core) != cores.end()) return group;
  }
  fail_check("a core that the nest does not use");
}

namespace {

/// Whether a transfer of a team fills the slot of one of these cores too.
bool reaches(const LoopNest& nest, const Timeline::Transfer& transfer, const std::vector<int>& cores) {
  const Stmt* const statement = find_statement(nest, transfer.statement);
  const std::optional<Space> team = statement == nullptr ? std::nullopt : team_of(*statement);
  if (!team || *team == Space::mesh) return team.has_value();
  const Teams teams(nest, *team);
  return std::any_of(cores.begin(), cores.end(),
                     [&](int core) { return teams.team_of(core) == teams.team_of(transfer.core); });
}

}  // namespace

TimelineTracks timeline_tracks(const LoopNest& nest, Simulation simulation, Timeline timeline) {
  TimelineTracks made;
  for (const BufferId b : nest.buffers.ids()) {
    for (int slot = 0; slot < nest.buffers[b].slots; ++slot) made.slots.push_back({b, slot});
  }
  const std::vector<RepeatNode> repeats = nested(timeline.repeats);
  std::vector<std::size_t> group_of(simulation.cores.size());
  for (const std::vector<int>& cores : timeline.alike) {
    group_of[static_cast<std::size_t>(cores.front())] = made.groups.size();
    made.groups.push_back({cores, {}, {}, {}});
  }
  struct Rows {
    std::vector<Recorded> core;
    IdVector<SlotId, std::vector<Recorded>> slots;
    IdVector<SlotId, std::vector<Recorded>> transfers;
  };
  std::vector<Rows> rows(made.groups.size());
  for (Rows& of_group : rows) {
    of_group.slots.resize(made.slots.size());
    of_group.transfers.resize(made.slots.size());
    if (simulation.launch_cycles > 0) {
      // Before anything that is recorded.
      constexpr auto nowhere = static_cast<std::size_t>(-1);
      of_group.core.push_back(
          {{0, simulation.launch_cycles, TrackState::launch, -1, std::nullopt}, nowhere, nowhere, false});
    }
  }
  for (std::size_t i = 0; i < timeline.slices.size(); ++i) {
    const Timeline::Slice& slice = timeline.slices[i];
    Rows& of_group = rows[group_of[static_cast<std::size_t>(slice.core)]];
    Recorded one{{slice.from, slice.to, state_of(slice.kind), static_cast<int>(i), slice.statement}, i, 0, false};
    of_group.core.push_back(one);
    if (!slice.uses) continue;
    one.piece.state = TrackState::in_use;
    std::vector<SlotId> touched = timeline.uses[*slice.uses];
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const SlotId slot : touched) of_group.slots[slot].push_back(one);
  }
  for (std::size_t i = 0; i < timeline.transfers.size(); ++i) {
    const Timeline::Transfer& transfer = timeline.transfers[i];
    const TrackState state = transfer.is_put ? TrackState::draining : TrackState::filling;
    const Recorded one{{transfer.begun, transfer.ended, state, static_cast<int>(i), transfer.statement}, 0, i, true};
    const std::size_t starts = group_of[static_cast<std::size_t>(transfer.core)];
    rows[starts].transfers[transfer.slot].push_back(one);
    for (std::size_t g = 0; g < rows.size(); ++g) {
      if (g == starts || reaches(nest, transfer, made.groups[g].cores)) rows[g].slots[transfer.slot].push_back(one);
    }
  }
  for (std::size_t g = 0; g < rows.size(); ++g) {
    made.groups[g].core = TrackMaker(repeats, false).run(std::move(rows[g].core));
    for (std::vector<Recorded>& slot : rows[g].slots) {
      made.groups[g].slots.push_back(TrackMaker(repeats, true).run(std::move(slot)));
    }
    for (std::vector<Recorded>& slot : rows[g].transfers) {
      made.groups[g].transfers.push_back(TrackMaker(repeats, false).run(std::move(slot)));
    }
  }
  made.simulation = std::move(simulation);
  made.timeline = std::move(timeline);
  return made;
}

}  // namespace stowage
