// SPDX-License-Identifier: Apache-2.0
// How what networks take follows a value that a sweep changes: a line for the time of each network with the same other
// settings, or for each amount of one network, as parts of its own largest amount, so that small and large ones stand
// side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/drawing/scene.h"
#include "driver/drawing/sheet.h"

namespace stowage::drawing {

struct SweepPoint {
  double value = 0;   ///< of the swept key
  double amount = 0;  ///< cycles, seconds, bytes or a count
  std::string tip;
  std::optional<int> item = std::nullopt;  ///< of its shapes
};

struct SweepLine {
  std::string name;
  std::vector<SweepPoint> points;  ///< ascending by value, at least one
  /// Points that have a ring, by their indices, ascending; nothing: knee_of the line.
  std::optional<std::vector<std::size_t>> rings = std::nullopt;
};

/// Of a line of more points only the ends and those with a ring have marks and tips: marks would cover each other, and
/// a sweep may have very many.
inline constexpr std::size_t max_marked_points = 500;

/// A gain of less than this part of a line's amount is none.
inline constexpr double least_gain = 0.01;

/// The point from which on a larger value gains less than `least_gain` of that point's amount; its index. The last one
/// where every value gains more.
std::size_t knee_of(const SweepLine& line);

/// `key` is what the horizontal axis is called. At most `max_sweep_lines` lines.
inline constexpr std::size_t max_sweep_lines = 12;
Scene sweep_chart(const std::string& key, const std::vector<SweepLine>& lines, const Sheet& sheet);

/// A value that has something to say.
struct SweepMark {
  double value = 0;
  std::string label;  ///< short; may be empty
  std::string tip;
};
/// What else a picture has.
struct SweepNotes {
  std::string title;
  std::string note;                ///< how it is to be read
  std::vector<SweepMark> upright;  ///< lines from top to bottom, with the label above
  std::vector<SweepMark> crosses;  ///< values without an amount
  bool together = false;           ///< all lines are parts of the largest amount of all
};
Scene sweep_chart(const std::string& key, const std::vector<SweepLine>& lines, const SweepNotes& notes,
                  const Sheet& sheet);

}  // namespace stowage::drawing
