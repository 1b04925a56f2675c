// SPDX-License-Identifier: Apache-2.0
// The axis of pictures over time: cycles or seconds from the start, to the right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/target.h"
#include "driver/drawing/sheet.h"

namespace stowage::drawing {

/// Pixels from `left` to `right` are cycles from `from` to `to`.
struct TimeAxis {
  double left = 0;
  double right = 1;
  std::int64_t from = 0;
  std::int64_t to = 1;
  [[nodiscard]] double cycles_of_pixel() const { return static_cast<double>(to - from) / (right - left); }
  [[nodiscard]] double x(std::int64_t cycle) const {
    return left + static_cast<double>(cycle - from) / cycles_of_pixel();
  }
};

/// Numbers at round places, with what they count at the left, in a line of small text; returns the places. The numbers
/// of the left margin have a room of so many pixels.
std::vector<double> add_time_axis(Scene& scene, const Sheet& sheet, const Target& target, const TimeAxis& axis,
                                  double label_width, double y);

/// "1 234 cycles" or "3.2 µs".
std::string time_words(std::int64_t cycles, const Target& target, Units units);

}  // namespace stowage::drawing
