// SPDX-License-Identifier: Apache-2.0
// How the predicted time of networks follows a value that a sweep changes: a line for each network with the same other
// settings, as parts of its own longest time, so that small and large networks stand side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/drawing/scene.h"
#include "driver/drawing/sheet.h"

namespace stowage::drawing {

struct SweepPoint {
  double value = 0;  ///< of the swept key
  std::int64_t cycles = 0;
  std::string tip;
};

struct SweepLine {
  std::string name;
  std::vector<SweepPoint> points;  ///< ascending by value, at least two
};

/// A gain of less than this part of a line's time is none.
inline constexpr double least_gain = 0.01;

/// The point from which on a larger value gains less than `least_gain` of that point's time; its index. The last one
/// where every value gains more.
std::size_t knee_of(const SweepLine& line);

/// `key` is what the horizontal axis is called. At most `max_sweep_lines` lines.
inline constexpr std::size_t max_sweep_lines = 12;
Scene sweep_chart(const std::string& key, const std::vector<SweepLine>& lines, const Sheet& sheet);

}  // namespace stowage::drawing
