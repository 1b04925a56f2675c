// SPDX-License-Identifier: Apache-2.0
// Pictures of the time estimate: its terms with their formulas, the roofline of all groups, bytes moved per tensor.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/state/comparison.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

/// Terms of one group with formula and source; of the whole network (step -1) the sums by kind of term. With a
/// comparison every bar has the baseline's as a line across it, and the change behind its number.
Drawing cost_terms(const LoadedPlan& plan, int step, const Look& look, QSizeF room,
                   const PlanComparison* comparison = nullptr);
/// Log-log: flop per DMA byte against flop per second, under the target's roofs, one dot a group.
Drawing roofline(const LoadedPlan& plan, const Look& look, QSizeF room);

/// A group's dot. Groups without flop or DMA have none.
struct RooflinePoint {
  int step = 0;
  double intensity = 0;  ///< flop per DMA byte
  double rate = 0;       ///< flop per second
};
std::vector<RooflinePoint> roofline_points(const LoadedPlan& plan);
/// Flop per second that the target's cores reach in vector form, and bytes per second of its largest blocks.
double peak_rate(const Target& target);
double peak_bandwidth(const Target& target);

}  // namespace stowage::inspector
