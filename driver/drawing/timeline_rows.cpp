// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/timeline_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "driver/drawing/time_axis.h"
#include "driver/report/nest_outline.h"
#include "lowering/simulate/track_reader.h"

namespace stowage::drawing {

namespace {

using drawing::time_words;
using Heights = std::vector<std::pair<TrackState, int>>;

/// The cycles at the edges of pixels.
class PixelScale {
 public:
  PixelScale(const Box& box, std::int64_t from, std::int64_t to)
      : box_(box), from_(from), cycles_(static_cast<double>(std::max<std::int64_t>(1, to - from)) / box.width) {}
  [[nodiscard]] double x(std::int64_t cycle) const { return box_.x + static_cast<double>(cycle - from_) / cycles_; }
  [[nodiscard]] double cycles_of_pixel() const { return cycles_; }
  /// The first edge behind a cycle, at least a cycle later.
  [[nodiscard]] std::int64_t next_edge(std::int64_t cycle) const {
    const double pixel = std::floor(x(cycle) - box_.x + 1e-6) + 1;
    return std::max(cycle + 1, from_ + static_cast<std::int64_t>(std::llround(pixel * cycles_)));
  }

 private:
  const Box& box_;
  std::int64_t from_ = 0;
  double cycles_ = 1;
};

std::string time_words(const RowContext& context, std::int64_t cycles) {
  return time_words(cycles, context.target, context.units);
}

std::string span_words(const RowContext& context, std::int64_t from, std::int64_t to) {
  return fmt::format("{}, from {} to {}", time_words(context, to - from),
                     shown_time(from, context.target.clock_hz, context.units),
                     shown_time(to, context.target.clock_hz, context.units));
}

std::string words_of(const RowContext& context, StatementId statement) {
  const Stmt* const found = find_statement(context.nest, statement);
  return found == nullptr ? "" : statement_words(context.nest, *found);
}

std::string tip_of(const RowContext& context, TrackKind kind, const TimelineTrack::Moment& moment) {
  std::string tip(name_of(moment.state));
  if (moment.statement) {
    const bool says_state = moment.state == TrackState::compute;
    const std::string words = words_of(context, *moment.statement);
    tip = says_state ? words : fmt::format("{}: {}", tip, words);
  }
  tip += "\n" + span_words(context, moment.from, moment.to);
  if (kind == TrackKind::slot && moment.item &&
      (moment.state == TrackState::filling || moment.state == TrackState::draining)) {
    const Timeline::Transfer& transfer = context.tracks.timeline.transfers[static_cast<std::size_t>(*moment.item)];
    tip += fmt::format("\n{}; data move {} after its start", shown_size(transfer.bytes, context.units),
                       time_words(context, transfer.moves - transfer.begun));
  }
  if (moment.times > 1) {
    tip += fmt::format("\nin time {} of {} that are alike", shown_count(moment.time), shown_count(moment.times));
  }
  return tip;
}

/// Whole pixels that states take of a height, those that happen at all at least one if there is room; idle is the rest.
Heights heights_of(const TrackTotals& totals, std::int64_t length, double height) {
  Heights heights;
  const int most = std::max(1, static_cast<int>(height));
  int left = most;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i] <= 0) continue;
    const double share = static_cast<double>(totals[i]) / static_cast<double>(length);
    const int pixels = std::min(left, std::max(1, static_cast<int>(std::lround(share * most))));
    if (pixels == 0) continue;
    left -= pixels;
    heights.emplace_back(static_cast<TrackState>(i), pixels);
  }
  return heights;
}

std::string mixture_words(const RowContext& context, const TrackTotals& totals, std::int64_t from, std::int64_t to) {
  std::string tip = span_words(context, from, to) + ", in the mean:";
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i] == 0) continue;
    tip += fmt::format("\n{} {}", name_of(static_cast<TrackState>(i)),
                       shown_share(static_cast<double>(totals[i]) / static_cast<double>(to - from)));
  }
  return tip;
}

/// Asks for one span after another.
class SpanReader {
 public:
  explicit SpanReader(const TimelineTrack& track) : reader_(track) {}
  [[nodiscard]] TrackTotals between(std::int64_t from, std::int64_t to) {
    if (from != at_ || !known_) before_ = reader_.until(from);
    const TrackTotals end = reader_.until(to);
    TrackTotals totals = end;
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] -= before_[i];
    before_ = end;
    at_ = to;
    known_ = true;
    return totals;
  }

 private:
  TrackReader reader_;
  TrackTotals before_ = {};  ///< before `at_`, where that is known
  std::int64_t at_ = 0;
  bool known_ = false;
};

/// Walks over a row, and joins neighbouring pixels that look the same.
class RowPainter {
 public:
  RowPainter(Scene& scene, const RowContext& context, const TimelineTrack& track, TrackKind kind, const Box& box,
             std::optional<BufferId> buffer)
      : scene_(scene), context_(context), track_(track), spans_(track), kind_(kind), box_(box), buffer_(buffer) {}

  void run(std::int64_t from, std::int64_t to) {
    const PixelScale scale(box_, from, to);
    scene_.box(box_, Ink::base);
    for (std::int64_t at = from; at < to;) {
      const auto moment = track_.at(at);
      const std::int64_t end = moment ? std::min(moment->to, to) : at;
      if (moment && static_cast<double>(end - at) >= 1.5 * scale.cycles_of_pixel()) {
        flush(scale);
        add_moment(*moment, scale.x(at), scale.x(end));
        at = end;
        continue;
      }
      const std::int64_t edge = std::min(to, scale.next_edge(at));
      const TrackTotals totals = spans_.between(at, edge);
      Heights heights = heights_of(totals, edge - at, box_.height);
      if (heights != heights_) flush(scale);
      if (from_ == to_) from_ = at;
      to_ = edge;
      heights_ = std::move(heights);
      at = edge;
    }
    flush(scale);
  }

 private:
  void add_moment(const TimelineTrack::Moment& moment, double left, double right) {
    const TrackLook look = look_of(moment.state);
    Shape& shape = scene_.box({left, box_.y, right - left, box_.height}, look.ink);
    constexpr double room_for_pattern = 5;
    if (right - left >= room_for_pattern) shape.pattern = look.pattern;
    // A statement says more than the buffer that it moves.
    if (moment.statement) {
      shape.subject = Subject{.step = context_.step, .statement = moment.statement};
    } else if (buffer_) {
      shape.subject = Subject{.step = context_.step, .buffer = buffer_};
    }
    shape.tip = tip_of(context_, kind_, moment);
  }

  void flush(const PixelScale& scale) {
    if (from_ < to_ && !heights_.empty()) {
      const std::string tip = mixture_words(context_, between(track_, from_, to_), from_, to_);
      const double left = scale.x(from_);
      double bottom = box_.bottom();
      for (const auto& [state, pixels] : heights_) {
        const double height = std::min<double>(pixels, bottom - box_.y);
        scene_.box({left, bottom - height, scale.x(to_) - left, height}, look_of(state).ink).tip = tip;
        bottom -= height;
      }
    }
    from_ = to_ = 0;
    heights_.clear();
  }

  Scene& scene_;
  const RowContext& context_;
  const TimelineTrack& track_;
  SpanReader spans_;
  TrackKind kind_;
  const Box& box_;
  std::optional<BufferId> buffer_;
  std::int64_t from_ = 0;  ///< of what is joined so far
  std::int64_t to_ = 0;
  Heights heights_;
};

std::int64_t cycles_in(const TrackTotals& totals, TrackState state) { return totals[static_cast<std::size_t>(state)]; }

/// Cycles of transfers of all cores before one cycle after another.
class TransferReader {
 public:
  explicit TransferReader(const TimelineTracks& tracks) {
    for (const CoreTracks& group : tracks.groups) {
      const auto cores = static_cast<std::int64_t>(group.cores.size());
      for (const TimelineTrack& slot : group.transfers) {
        if (slot.end() > 0) slots_.emplace_back(cores, TrackReader(slot));
      }
    }
  }

  [[nodiscard]] TransfersUnderWay until(std::int64_t cycle) {
    TransfersUnderWay sum;
    for (auto& [cores, slot] : slots_) {
      sum.gets += cores * slot.until(cycle, TrackState::filling);
      sum.puts += cores * slot.until(cycle, TrackState::draining);
    }
    return sum;
  }

 private:
  std::vector<std::pair<std::int64_t, TrackReader>> slots_;  ///< with the cores that do the same
};

}  // namespace

TrackLook look_of(TrackState state) {
  switch (state) {
    case TrackState::launch: return {Ink::launch};
    case TrackState::compute:
    case TrackState::in_use: return {Ink::compute};
    case TrackState::issue: return {Ink::issue};
    case TrackState::wait_for_get:
    case TrackState::filling: return {Ink::get, Hatch::rising};
    case TrackState::wait_for_put:
    case TrackState::draining: return {Ink::put, Hatch::falling};
    case TrackState::wait_at_barrier: return {Ink::muted, Hatch::crossed};
    case TrackState::ready: return {Ink::idle};
  }
  return {};
}

TrackTotals between(const TimelineTrack& track, std::int64_t from, std::int64_t to) {
  TrackTotals totals = track.until(to);
  const TrackTotals before = track.until(from);
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] -= before[i];
  return totals;
}

TransfersUnderWay transfers_between(const TimelineTracks& tracks, std::int64_t from, std::int64_t to) {
  TransferReader reader(tracks);
  const TransfersUnderWay before = reader.until(from);
  const TransfersUnderWay after = reader.until(to);
  return {after.gets - before.gets, after.puts - before.puts};
}

void add_track_row(Scene& scene, const RowContext& context, const TimelineTrack& track, TrackKind kind, const Box& box,
                   std::int64_t from, std::int64_t to, std::optional<BufferId> buffer) {
  RowPainter(scene, context, track, kind, box, buffer).run(from, to);
}

void add_exposed_row(Scene& scene, const RowContext& context, const TimelineTrack& track, const Box& box,
                     std::int64_t from, std::int64_t to) {
  const PixelScale scale(box, from, to);
  scene.box(box, Ink::base);
  std::int64_t begun = from;
  int joined = 0;
  const auto flush = [&](std::int64_t end) {
    if (joined > 0 && end > begun) {
      const TrackTotals totals = between(track, begun, end);
      const std::int64_t waits = cycles_in(totals, TrackState::wait_for_get) +
                                 cycles_in(totals, TrackState::wait_for_put) +
                                 std::max<std::int64_t>(0, end - std::max(begun, track.end()));
      scene
          .box({scale.x(begun), box.bottom() - joined, scale.x(end) - scale.x(begun), static_cast<double>(joined)},
               Ink::error)
          .tip = fmt::format("exposed DMA: {} of {}", time_words(context, waits), span_words(context, begun, end));
    }
    begun = end;
  };
  SpanReader spans(track);
  for (std::int64_t at = from; at < to;) {
    const std::int64_t edge = std::min(to, scale.next_edge(at));
    const TrackTotals totals = spans.between(at, edge);
    const std::int64_t waits = cycles_in(totals, TrackState::wait_for_get) +
                               cycles_in(totals, TrackState::wait_for_put) +
                               std::max<std::int64_t>(0, edge - std::max(at, track.end()));
    const int pixels = waits == 0 ? 0
                                  : std::max(1, static_cast<int>(std::lround(box.height * static_cast<double>(waits) /
                                                                             static_cast<double>(edge - at))));
    if (pixels != joined) {
      flush(at);
      joined = pixels;
    }
    at = edge;
  }
  flush(to);
}

double add_engine_row(Scene& scene, const RowContext& context, const Box& box, std::int64_t from, std::int64_t to) {
  const PixelScale scale(box, from, to);
  scene.box(box, Ink::base, Ink::line);
  struct Column {
    std::int64_t from = 0;
    std::int64_t to = 0;
    TransfersUnderWay cycles;
  };
  std::vector<Column> columns;
  TransferReader reader(context.tracks);
  TransfersUnderWay before = reader.until(from);
  double most = 1;
  for (std::int64_t at = from; at < to;) {
    const std::int64_t edge = std::min(to, scale.next_edge(at));
    const TransfersUnderWay after = reader.until(edge);
    const Column column{at, edge, {after.gets - before.gets, after.puts - before.puts}};
    before = after;
    most =
        std::max(most, static_cast<double>(column.cycles.gets + column.cycles.puts) / static_cast<double>(edge - at));
    columns.push_back(column);
    at = edge;
  }
  const auto pixels = [&](std::int64_t cycles, const Column& column) {
    return static_cast<int>(
        std::lround(box.height * static_cast<double>(cycles) / static_cast<double>(column.to - column.from) / most));
  };
  for (std::size_t i = 0; i < columns.size();) {
    Column joined = columns[i];
    const int gets = pixels(joined.cycles.gets, joined);
    const int puts = pixels(joined.cycles.puts, joined);
    for (++i; i < columns.size() && pixels(columns[i].cycles.gets, columns[i]) == gets &&
              pixels(columns[i].cycles.puts, columns[i]) == puts;
         ++i) {
      joined.to = columns[i].to;
      joined.cycles.gets += columns[i].cycles.gets;
      joined.cycles.puts += columns[i].cycles.puts;
    }
    const auto length = static_cast<double>(joined.to - joined.from);
    const std::string tip = fmt::format(
        "{}: in the mean {:.1f} gets and {:.1f} puts under way", span_words(context, joined.from, joined.to),
        static_cast<double>(joined.cycles.gets) / length, static_cast<double>(joined.cycles.puts) / length);
    const double left = scale.x(joined.from);
    const double width = scale.x(joined.to) - left;
    if (gets > 0) scene.box({left, box.bottom() - gets, width, static_cast<double>(gets)}, Ink::get).tip = tip;
    if (puts > 0) scene.box({left, box.bottom() - gets - puts, width, static_cast<double>(puts)}, Ink::put).tip = tip;
  }
  return most;
}

}  // namespace stowage::drawing
