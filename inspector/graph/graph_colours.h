// SPDX-License-Identifier: Apache-2.0
// What fused operators are coloured by, and the legend that says so.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/state/comparison.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

/// change: cycles against the baseline, in one colour for gains and another for losses.
enum class GraphMetric : std::uint8_t { fusion_template, time, dma_bytes, ldm, change };

struct NodeColour {
  QColor fill;
  Qt::PenStyle pen = Qt::SolidLine;
};

/// By step. Metrics run from nothing to the largest of the network; LDM use from nothing to all of it. Without a
/// comparison nothing changes.
IdVector<StepId, NodeColour> graph_colours(const LoadedPlan& plan, GraphMetric metric, const Theme& theme,
                                           const PlanComparison* comparison = nullptr);
Drawing graph_legend(const LoadedPlan& plan, GraphMetric metric, const Look& look, double width,
                     const PlanComparison* comparison = nullptr);

}  // namespace stowage::inspector
