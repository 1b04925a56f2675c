// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/program_timeline.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "driver/drawing/time_axis.h"
#include "driver/drawing/timeline_rows.h"

namespace stowage::drawing {

namespace {

/// Where the cycles of the core go that ends last.
struct LaunchParts {
  TrackTotals cycles = {};
  std::int64_t after_end = 0;  ///< transfers that nobody waits for
};

LaunchParts parts_of(const Simulation& simulation) {
  const CoreTimes& last = simulation.cores.at(simulation.last_core());
  LaunchParts parts;
  const auto set = [&](TrackState state, std::int64_t cycles) {
    parts.cycles[static_cast<std::size_t>(state)] = cycles;
  };
  set(TrackState::launch, simulation.launch_cycles);
  set(TrackState::compute, last.computing);
  set(TrackState::issue, last.issuing);
  set(TrackState::wait_for_get, last.waiting_for_gets);
  set(TrackState::wait_for_put, last.waiting_for_puts + last.idle);
  set(TrackState::wait_at_barrier, last.waiting_at_barriers);
  return parts;
}

/// Steps that stand side by side in a pixel, or one that has more.
struct Joined {
  StepId first;
  StepId last;
  std::int64_t from = 0;
  std::int64_t to = 0;
  TrackTotals cycles = {};
  std::int64_t exposed = 0;
};

class ProgramPicture {
 public:
  ProgramPicture(const Program& program, const IdVector<StepId, std::optional<Simulation>>& steps,
                 const TimelineView& view, std::optional<StepId> chosen, const Sheet& sheet)
      : program_(program), steps_(steps), starts_(step_starts(steps)), view_(view), chosen_(chosen), sheet_(sheet) {
    if (view_.to <= view_.from) view_.to = std::max<std::int64_t>(1, starts_.back());
  }

  TimelineChart run() && {
    Scene& scene = chart_.scene;
    scene.title = "Timeline of all launches";
    scene.width = std::max(sheet_.width, 320.0);
    std::int64_t exposed = 0;
    for (const auto& step : steps_) exposed += step ? step->exposed_dma_cycles() : 0;
    double y = 8;
    y += add_title(scene, sheet_, y,
                   fmt::format("{} simulated, {} of it exposed DMA ({})", time(starts_.back()), time(exposed),
                               shown_share(static_cast<double>(exposed) /
                                           static_cast<double>(std::max<std::int64_t>(1, starts_.back())))));
    y += add_legend(scene, sheet_, y, legend()) + 6;
    label_width_ = std::min(sheet_.text_width("exposed DMA") + 2, scene.width * 0.25);
    chart_.left = margin + label_width_ + 8;
    chart_.right = scene.width - margin;
    const TimeAxis axis{chart_.left, chart_.right, view_.from, view_.to};
    const std::vector<double> places = add_time_axis(scene, sheet_, program_.target, axis, label_width_, y);
    y += row();
    const double top = y;
    join(axis);
    const double launches = y;
    y += 1.6 * row();
    label("exposed DMA", y);
    const double exposed_row = y;
    y += row() + 2;
    label("time goes to", y);
    const double parts = y;
    y += 4 * row();
    label("launches", launches + 0.3 * row());
    for (const double place : places) scene.line({place, top}, {place, y}, Ink::line).dash = Dash::dots;
    for (const Joined& one : joined_) add(axis, one, launches, exposed_row, parts);
    if (view_.span_to > view_.span_from) {
      const double left = std::max(chart_.left, axis.x(view_.span_from));
      const double right = std::min(chart_.right, axis.x(view_.span_to));
      if (right > left) scene.box({left, top, right - left, y - top}, Ink::band, Ink::muted);
    }
    chart_.bottom = y;
    y += 6;
    y += add_note(scene, sheet_, margin, y,
                  "Where the time goes is of the core of each launch that ends last; what it waits for transfers, and "
                  "what they take after it, is exposed. Choose a launch to see it core by core.");
    scene.height = std::max(y + 6, sheet_.height);
    return std::move(chart_);
  }

 private:
  [[nodiscard]] double row() const { return sheet_.fonts.height(Font::small) + 5; }
  [[nodiscard]] std::string time(std::int64_t cycles) const {
    return time_words(cycles, program_.target, sheet_.units);
  }

  void label(const std::string& text, double y) {
    chart_.scene.text({margin, y, label_width_, row()}, text, Ink::text, Font::small, Align::right);
  }

  static std::vector<LegendEntry> legend() {
    std::vector<LegendEntry> entries;
    constexpr std::array states = {TrackState::launch,       TrackState::compute,      TrackState::issue,
                                   TrackState::wait_for_get, TrackState::wait_for_put, TrackState::wait_at_barrier};
    for (const TrackState state : states) {
      const bool is_put = state == TrackState::wait_for_put;
      entries.push_back({is_put ? "wait for put, end of transfers" : std::string(name_of(state)), look_of(state).ink});
    }
    return entries;
  }

  void join(const TimeAxis& axis) {
    for (const StepId s : steps_.ids()) {
      const std::int64_t from = starts_[s.index()];
      const std::int64_t to = starts_[s.index() + 1];
      if (!steps_[s] || to <= view_.from || from >= view_.to) continue;
      const bool fits = !joined_.empty() && axis.x(to) - axis.x(joined_.back().from) < 1;
      if (!fits) joined_.push_back({s, s, from, from});
      Joined& one = joined_.back();
      one.last = s;
      one.to = to;
      one.exposed += steps_[s]->exposed_dma_cycles();
      const LaunchParts parts = parts_of(*steps_[s]);
      for (std::size_t i = 0; i < one.cycles.size(); ++i) one.cycles[i] += parts.cycles[i];
    }
  }

  void add(const TimeAxis& axis, const Joined& one, double launches, double exposed_row, double parts) {
    const double left = std::max(chart_.left, axis.x(one.from));
    const double right = std::min(chart_.right, axis.x(one.to));
    const auto length = static_cast<double>(one.to - one.from);
    const std::string& name = program_.steps[one.first].group.name;
    std::string tip =
        one.first == one.last ? name : fmt::format("{} launches, {} …", one.last.index() - one.first.index() + 1, name);
    tip += fmt::format("\n{}, of it exposed DMA {}", time(one.to - one.from), time(one.exposed));
    for (std::size_t i = 0; i < one.cycles.size(); ++i) {
      if (one.cycles[i] == 0) continue;
      tip += fmt::format("\n{} {}", name_of(static_cast<TrackState>(i)),
                         shown_share(static_cast<double>(one.cycles[i]) / length));
    }
    Scene& scene = chart_.scene;
    const auto place = [&](Shape& shape) {
      shape.tip = tip;
      if (one.first == one.last) shape.subject = Subject{.step = one.first};
    };
    const bool is_chosen = chosen_ && one.first <= *chosen_ && *chosen_ <= one.last;
    const double width = std::max(0.5, right - left);
    place(scene.box({left, launches + 2, width, 1.6 * row() - 4}, is_chosen ? Ink::chosen : Ink::raised, Ink::line));
    constexpr double least_text = 24;
    if (one.first == one.last && width > least_text) {
      scene.text({left + 3, launches + 2, width - 6, 1.6 * row() - 4}, name, Ink::text, Font::small, Align::middle)
          .tip = tip;
    }
    const double height = (row() - 4) * static_cast<double>(one.exposed) / length;
    place(scene.box({left, exposed_row + row() - 2 - height, width, height}, Ink::error));
    double bottom = parts + 4 * row() - 2;
    for (std::size_t i = 0; i < one.cycles.size(); ++i) {
      const double part = (4 * row() - 4) * static_cast<double>(one.cycles[i]) / length;
      if (part <= 0) continue;
      place(scene.box({left, bottom - part, width, part}, look_of(static_cast<TrackState>(i)).ink));
      bottom -= part;
    }
  }

  const Program& program_;
  const IdVector<StepId, std::optional<Simulation>>& steps_;
  std::vector<std::int64_t> starts_;
  TimelineView view_;
  std::optional<StepId> chosen_;
  const Sheet& sheet_;
  double label_width_ = 0;
  std::vector<Joined> joined_;
  TimelineChart chart_;
};

}  // namespace

std::vector<std::int64_t> step_starts(const IdVector<StepId, std::optional<Simulation>>& steps) {
  std::vector<std::int64_t> starts = {0};
  for (const auto& step : steps) starts.push_back(starts.back() + (step ? step->cycles : 0));
  return starts;
}

TimelineChart program_timeline(const Program& program, const IdVector<StepId, std::optional<Simulation>>& steps,
                               const TimelineView& view, std::optional<StepId> chosen, const Sheet& sheet) {
  return ProgramPicture(program, steps, view, chosen, sheet).run();
}

}  // namespace stowage::drawing
