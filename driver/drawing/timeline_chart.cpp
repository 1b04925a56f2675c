// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/timeline_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "driver/drawing/time_axis.h"
#include "driver/drawing/timeline_rows.h"
#include "driver/report/nest_outline.h"

namespace stowage::drawing {

namespace {

constexpr double label_gap = 8;
/// Of the height of the diagram of the engine, in rows.
constexpr double engine_rows = 2.5;

/// "core 3", "cores 0, 8, 16 …", "64 cores alike".
std::string name_of_cores(const std::vector<int>& cores, std::size_t all) {
  if (cores.size() == 1) return fmt::format("core {}", cores.front());
  if (cores.size() == all) return fmt::format("all {} cores", all);
  if (cores.back() - cores.front() + 1 == static_cast<int>(cores.size())) {
    return fmt::format("cores {}–{}", cores.front(), cores.back());
  }
  return fmt::format("{} cores, {} …", cores.size(), cores.front());
}

std::string tip_of_cores(const std::vector<int>& cores) {
  std::string tip = cores.size() == 1 ? "core" : "cores that do the same in the same cycles:";
  for (const int core : cores) tip += fmt::format(" {}", core);
  return tip;
}

class TimelinePicture {
 public:
  TimelinePicture(const Program& program, StepId step, const TimelineTracks& tracks, const TimelineView& view,
                  const Sheet& sheet)
      : program_(program),
        step_(step),
        nest_(program.steps[step].plan()->nest),
        tracks_(tracks),
        view_(view),
        sheet_(sheet) {
    const std::int64_t all = tracks.simulation.cycles;
    view_.from = std::clamp<std::int64_t>(view.from, 0, std::max<std::int64_t>(0, all - 1));
    view_.to = view.to <= view_.from ? all : view.to;
    group_ = tracks.group_of(std::clamp(view.core, 0, static_cast<int>(tracks.simulation.cores.size()) - 1));
    view_.core = std::max(0, std::min(view.core, static_cast<int>(tracks.simulation.cores.size()) - 1));
  }

  TimelineChart run() && {
    Scene& scene = chart_.scene;
    scene.title = "Timeline: " + program_.steps[step_].group.name;
    scene.width = std::max(sheet_.width, 320.0);
    double y = 8;
    y += add_title(scene, sheet_, y, numbers());
    y += add_legend(scene, sheet_, y, legend()) + 6;
    set_axis();
    y = add_axis(y);
    const double top = y;
    y = add_phases(y);
    y = add_exposed(y);
    y = add_cores(y);
    y = add_engine(y);
    y = add_slots(y);
    add_span(top, y);
    chart_.top = top;
    chart_.bottom = y;
    chart_.from = view_.from;
    chart_.to = view_.to;
    for (Shape& shape : timeline_cursor(program_, chart_, view_.cursor, sheet_).shapes)
      scene.shapes.push_back(std::move(shape));
    y += 4;
    y += add_note(scene, sheet_, margin, y, note());
    scene.height = std::max(y + 6, sheet_.height);
    return std::move(chart_);
  }

 private:
  [[nodiscard]] double row() const { return sheet_.fonts.height(Font::small) + 5; }
  [[nodiscard]] TimeAxis axis() const { return {chart_.left, chart_.right, view_.from, view_.to}; }
  [[nodiscard]] double x(std::int64_t cycle) const { return axis().x(cycle); }
  [[nodiscard]] const CoreTracks& group() const { return tracks_.groups[group_]; }
  [[nodiscard]] std::string time(std::int64_t cycles) const {
    return time_words(cycles, program_.target, sheet_.units);
  }
  [[nodiscard]] RowContext context() const { return {nest_, step_, tracks_, program_.target, sheet_.units}; }

  [[nodiscard]] std::string numbers() const {
    const Simulation& simulation = tracks_.simulation;
    return fmt::format("{} simulated, {} of it exposed DMA ({})", time(simulation.cycles),
                       time(simulation.exposed_dma_cycles()),
                       shown_share(static_cast<double>(simulation.exposed_dma_cycles()) /
                                   static_cast<double>(std::max<std::int64_t>(1, simulation.cycles))));
  }

  [[nodiscard]] std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    TrackTotals seen = {};
    for (const CoreTracks& one : tracks_.groups) {
      const TrackTotals totals = one.core.until(tracks_.simulation.cycles);
      for (std::size_t i = 0; i < totals.size(); ++i) seen[i] += totals[i];
    }
    const auto add = [&](TrackState state, const std::string& text) {
      const TrackLook look = look_of(state);
      entries.push_back({text, look.ink, look.pattern});
    };
    constexpr std::array of_cores = {TrackState::launch,       TrackState::compute,      TrackState::issue,
                                     TrackState::wait_for_get, TrackState::wait_for_put, TrackState::wait_at_barrier};
    for (const TrackState state : of_cores) {
      if (seen[static_cast<std::size_t>(state)] == 0) continue;
      std::string text(name_of(state));
      if (state == TrackState::compute) text = "compute; slot in use";
      if (state == TrackState::wait_for_get) text = "wait for get; slot filling";
      if (state == TrackState::wait_for_put) text = "wait for put; slot draining";
      add(state, text);
    }
    if (seen[static_cast<std::size_t>(TrackState::wait_for_get)] == 0) add(TrackState::filling, "slot filling");
    if (seen[static_cast<std::size_t>(TrackState::wait_for_put)] == 0) add(TrackState::draining, "slot draining");
    add(TrackState::ready, "slot ready");
    entries.push_back({"idle", Ink::base});
    return entries;
  }

  [[nodiscard]] std::string name_of_slot(SlotId slot) const {
    const NumberedSlot& at = tracks_.slots[slot];
    const Buffer& buffer = nest_.buffers[at.buffer];
    return buffer.slots == 1 ? buffer.name : fmt::format("{}[{}]", buffer.name, at.slot);
  }

  void set_axis() {
    double labels = sheet_.text_width("DMA under way");
    for (const CoreTracks& one : tracks_.groups) {
      labels = std::max(labels, sheet_.text_width(name_of_cores(one.cores, tracks_.simulation.cores.size())));
    }
    for (const SlotId slot : tracks_.slots.ids()) {
      labels = std::max(labels, sheet_.text_width(name_of_slot(slot)));
    }
    label_width_ = std::min(labels + 2, chart_.scene.width * 0.25);
    chart_.left = margin + label_width_ + label_gap;
    chart_.right = chart_.scene.width - margin;
  }

  void add_label(const std::string& text, double y, const std::string& tip = {}) {
    Shape& shape = chart_.scene.text({margin, y, label_width_, row()}, text, Ink::text, Font::small, Align::right);
    shape.cut = Cut::middle;
    shape.tip = tip;
  }

  void add_heading(const std::string& text, double y) {
    chart_.scene.text({margin, y, chart_.right - margin, row()}, text, Ink::muted, Font::small);
  }

  double add_axis(double y) {
    ticks_ = add_time_axis(chart_.scene, sheet_, program_.target, axis(), label_width_, y);
    return y + row();
  }

  void add_grid(double top, double bottom) {
    for (const double at : ticks_) chart_.scene.line({at, top}, {at, bottom}, Ink::line).dash = Dash::dots;
  }

  /// Brackets over what happens once at the beginning, what repeats, and what happens once at the end.
  double add_phases(double y) {
    std::vector<TimelineTrack::Piece> repeats = group().core.repeats();
    if (repeats.empty()) return y;
    const std::int64_t begin = tracks_.simulation.launch_cycles;
    const auto phase = [&](std::int64_t from, std::int64_t to, Ink ink, std::vector<std::string> texts,
                           const std::string& tip) {
      const double left = std::max(chart_.left, x(from));
      const double right = std::min(chart_.right, x(to));
      if (right - left < 1) return;
      const Box box{left, y + 2, right - left, row() - 3};
      chart_.scene.box(box, ink, Ink::line).tip = tip;
      // As much as there is room for.
      const auto text = std::find_if(texts.begin(), texts.end(),
                                     [&](const std::string& one) { return sheet_.text_width(one) + 8 <= box.width; });
      if (text == texts.end()) return;
      chart_.scene.text({left + 3, box.y, box.width - 6, box.height}, *text, Ink::text, Font::small, Align::middle)
          .tip = tip;
    };
    add_label("phases", y);
    std::int64_t at = begin;
    for (const TimelineTrack::Piece& piece : repeats) {
      const bool first = at == begin;
      const std::string name = first ? "prologue" : "between";
      phase(at, piece.from, Ink::raised, {name}, fmt::format("{}: {}", name, time(piece.from - at)));
      const std::string count = shown_count(piece.times);
      const std::string often = fmt::format("{} × alike", count);
      phase(
          piece.from, piece.to, Ink::band, {"steady state: " + often, often, count + " ×"},
          fmt::format("steady state: {}, {} each, {} in all", often, time(piece.period), time(piece.to - piece.from)));
      at = piece.to;
    }
    const std::int64_t end = tracks_.simulation.cycles;
    phase(at, end, Ink::raised, {"epilogue"}, fmt::format("epilogue: {}", time(end - at)));
    return y + row() + 2;
  }

  /// Where the core that ends last waits for DMA.
  double add_exposed(double y) {
    const auto last = static_cast<int>(tracks_.simulation.last_core());
    const TimelineTrack& track = tracks_.groups[tracks_.group_of(last)].core;
    add_label("exposed DMA", y, fmt::format("where core {}, which ends last, waits for transfers", last));
    add_exposed_row(chart_.scene, context(), track, {chart_.left, y + 2, chart_.right - chart_.left, row() - 4},
                    view_.from, view_.to);
    return y + row() + 2;
  }

  double add_cores(double y) {
    add_heading("cores", y);
    y += row();
    const double top = y;
    for (std::size_t g = 0; g < tracks_.groups.size(); ++g) {
      if (view_.one_core && g != group_) continue;
      const CoreTracks& one = tracks_.groups[g];
      add_label(name_of_cores(one.cores, tracks_.simulation.cores.size()), y, tip_of_cores(one.cores));
      add_track_row(chart_.scene, context(), one.core, TrackKind::core,
                    {chart_.left, y + 1, chart_.right - chart_.left, row() - 2}, view_.from, view_.to);
      y += row();
    }
    add_grid(top, y);
    return y + 4;
  }

  double add_engine(double y) {
    const double height = engine_rows * row();
    add_heading("DMA: transfers under way, of all cores", y);
    y += row();
    const double most = add_engine_row(chart_.scene, context(), {chart_.left, y, chart_.right - chart_.left, height},
                                       view_.from, view_.to);
    add_label(fmt::format("{:.0f}", most), y);
    add_label("0", y + height - row());
    return y + height + 4;
  }

  double add_slots(double y) {
    add_heading(fmt::format("LDM: slots of core {}", view_.core), y);
    y += row();
    const double top = y;
    for (const SlotId slot : tracks_.slots.ids()) {
      const BufferId held = tracks_.slots[slot].buffer;
      const Buffer& buffer = nest_.buffers[held];
      add_label(name_of_slot(slot), y,
                fmt::format("{} of {}, {}", name_of_slot(slot), tensor_of_buffer(nest_, held),
                            sheet_.size(buffer.box_bytes())));
      add_track_row(chart_.scene, context(), group().slots[slot], TrackKind::slot,
                    {chart_.left, y + 1, chart_.right - chart_.left, row() - 2}, view_.from, view_.to, held);
      y += row();
    }
    add_grid(top, y);
    return y;
  }

  void add_span(double top, double bottom) {
    if (view_.span_to <= view_.span_from) return;
    const double left = std::max(chart_.left, x(view_.span_from));
    const double right = std::min(chart_.right, x(view_.span_to));
    if (right <= left) return;
    chart_.scene.box({left, top, right - left, bottom - top}, Ink::band, Ink::muted);
  }

  [[nodiscard]] std::string note() const {
    std::string text = "Where several things share a pixel, heights are the parts of the time that each takes.";
    if (!tracks_.timeline.repeats.empty()) {
      text += " What is bracketed as alike is the same to the cycle every time; one time was simulated step by step.";
    }
    return text;
  }

  const Program& program_;
  StepId step_;
  const LoopNest& nest_;
  const TimelineTracks& tracks_;
  TimelineView view_;
  const Sheet& sheet_;
  std::size_t group_ = 0;
  double label_width_ = 0;
  std::vector<double> ticks_;
  TimelineChart chart_;
};

}  // namespace

TimelineChart timeline_chart(const Program& program, StepId step, const TimelineTracks& tracks,
                             const TimelineView& view, const Sheet& sheet) {
  return TimelinePicture(program, step, tracks, view, sheet).run();
}

Scene timeline_cursor(const Program& program, const TimelineChart& chart, std::int64_t cycle, const Sheet& sheet) {
  Scene scene;
  if (cycle < chart.from || cycle > chart.to) return scene;
  const double at = TimeAxis{chart.left, chart.right, chart.from, chart.to}.x(cycle);
  constexpr double handle = 4;
  scene.line({at, chart.top}, {at, chart.bottom}, Ink::text, 2);
  scene.box({at - handle, chart.top - 2 * handle, 2 * handle, 2 * handle}, Ink::text).tip =
      time_words(cycle, program.target, sheet.units) + " from the launch";
  return scene;
}

std::vector<std::string> span_statistics(const Program& program, const TimelineTracks& tracks, int core,
                                         std::int64_t from, std::int64_t to, Units units) {
  const CoreTracks& group = tracks.groups[tracks.group_of(core)];
  const std::int64_t length = std::max<std::int64_t>(1, to - from);
  std::vector<std::string> lines = {fmt::format("{} from {} to {}", time_words(to - from, program.target, units),
                                                shown_time(from, program.target.clock_hz, units),
                                                shown_time(to, program.target.clock_hz, units))};
  const TrackTotals totals = between(group.core, from, to);
  std::string parts = fmt::format("core {}:", core);
  std::int64_t idle = length;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    idle -= totals[i];
    if (totals[i] == 0) continue;
    parts += fmt::format(" {} {} ·", name_of(static_cast<TrackState>(i)),
                         shown_share(static_cast<double>(totals[i]) / static_cast<double>(length)));
  }
  parts += fmt::format(" idle {}",
                       shown_share(static_cast<double>(std::max<std::int64_t>(0, idle)) / static_cast<double>(length)));
  lines.push_back(parts);
  const TransfersUnderWay under_way = transfers_between(tracks, from, to);
  lines.push_back(fmt::format("transfers under way, of all cores, in the mean: {:.1f} gets, {:.1f} puts",
                              static_cast<double>(under_way.gets) / static_cast<double>(length),
                              static_cast<double>(under_way.puts) / static_cast<double>(length)));
  return lines;
}

}  // namespace stowage::drawing
