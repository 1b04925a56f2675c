// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/time_axis.h"

#include <algorithm>
#include <cmath>

namespace stowage::drawing {

std::string time_words(std::int64_t cycles, const Target& target, Units units) {
  const std::string time = shown_time(cycles, target.clock_hz, units);
  return units.time == TimeUnit::cycles ? time + " cycles" : time;
}

std::vector<double> add_time_axis(Scene& scene, const Sheet& sheet, const Target& target, const TimeAxis& axis,
                                  double label_width, double y) {
  const bool in_cycles = sheet.units.time == TimeUnit::cycles;
  const double unit = in_cycles ? 1 : target.clock_hz / 1e9;
  const double height = sheet.fonts.height(Font::small) + 5;
  scene.text({margin, y, label_width, height}, in_cycles ? "cycles" : "time", Ink::muted, Font::small, Align::right);
  const double widest = sheet.text_width(shown_time(axis.to, target.clock_hz, sheet.units) + "000") + 24;
  const int most = std::clamp(static_cast<int>((axis.right - axis.left) / widest), 1, 12);
  const std::vector<double> round = ticks(static_cast<double>(axis.to - axis.from) / unit, most, false);
  const double distance =
      std::max(1.0, round.size() > 1 ? (round[1] - round[0]) * unit : static_cast<double>(axis.to - axis.from));
  std::vector<double> places;
  double free = margin + label_width;
  for (auto i = static_cast<std::int64_t>(std::ceil(static_cast<double>(axis.from) / distance));; ++i) {
    const auto cycle = static_cast<std::int64_t>(std::llround(static_cast<double>(i) * distance));
    if (cycle > axis.to) break;
    places.push_back(axis.x(cycle));
    const std::string text = shown_time(cycle, target.clock_hz, sheet.units);
    const double width = sheet.text_width(text) + 4;
    const double at = std::min(axis.x(cycle) - width / 2, scene.width - width - 2);
    if (at < free) continue;
    scene.text({at, y, width, height}, text, Ink::muted, Font::small, Align::middle);
    free = at + width + 4;
  }
  return places;
}

}  // namespace stowage::drawing
