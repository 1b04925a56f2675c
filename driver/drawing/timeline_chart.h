// SPDX-License-Identifier: Apache-2.0
// A fused operator in time, as the simulation has it: cores, the DMA engine and one core's buffer slots over the cycles
// of a launch. What is drawn is bounded by pixels, however much happens: where several things share one, it shows the
// part that each takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/drawing/sheet.h"
#include "lowering/program/program.h"
#include "lowering/simulate/timeline_tracks.h"

namespace stowage::drawing {

/// What of it is to be seen.
struct TimelineView {
  std::int64_t from = 0;       ///< cycles of the launch
  std::int64_t to = 0;         ///< 0: to the end
  int core = 0;                ///< the one whose slots are shown
  bool one_core = false;       ///< only the row of this core, and of those that do the same
  std::int64_t span_from = 0;  ///< a selected span, if it is longer than nothing
  std::int64_t span_to = 0;
  std::int64_t cursor = -1;  ///< a cycle that is marked; none below 0
  friend bool operator==(const TimelineView&, const TimelineView&) = default;
};

/// The scene, and where in it the time axis is.
struct TimelineChart {
  Scene scene;
  double left = 0;    ///< pixels, of the cycle `from`
  double right = 0;   ///< of the cycle `to`
  double top = 0;     ///< of the first row
  double bottom = 0;  ///< of the last row
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// Of a fused operator that has a plan, and its tracks. Higher than the sheet where the rows ask for it.
TimelineChart timeline_chart(const Program& program, StepId step, const TimelineTracks& tracks,
                             const TimelineView& view, const Sheet& sheet);

/// Marks a cycle in a chart without a cursor: it moves often, and the chart takes long. Nothing where it is out of
/// sight.
Scene timeline_cursor(const Program& program, const TimelineChart& chart, std::int64_t cycle, const Sheet& sheet);

/// What happens in a span, on a core, in its slots and on the engine, in lines.
std::vector<std::string> span_statistics(const Program& program, const TimelineTracks& tracks, int core,
                                         std::int64_t from, std::int64_t to, Units units);

}  // namespace stowage::drawing
