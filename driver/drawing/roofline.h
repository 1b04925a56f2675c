// SPDX-License-Identifier: Apache-2.0
// The roofline: operations per second against operations per DMA byte, both logarithmic, under the roofs of the target.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/drawing/sheet.h"
#include "lowering/program/program.h"

namespace stowage::drawing {

/// A fused operator's dot. Those without arithmetic or DMA have none.
struct RooflinePoint {
  StepId step;
  double intensity = 0;  ///< flop per DMA byte
  double rate = 0;       ///< flop per second, predicted
  std::int64_t cycles = 0;
};
std::vector<RooflinePoint> roofline_points(const Program& program);

/// Flop per second that all cores of the target reach on float32, in vector form and in plain loops.
double peak_rate(const Target& target);
double scalar_rate(const Target& target);

/// A dot for every point, the larger the more of the time it takes, and the names of those that take most.
Scene roofline(const Program& program, const std::vector<RooflinePoint>& points, const Sheet& sheet);

}  // namespace stowage::drawing
