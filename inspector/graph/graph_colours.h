// SPDX-License-Identifier: Apache-2.0
// What fused operators are coloured by, and the legend that says so.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

enum class GraphMetric : std::uint8_t { fusion_template, time, dma_bytes, ldm };

struct NodeColour {
  QColor fill;
  Qt::PenStyle pen = Qt::SolidLine;
};

/// By step. Metrics run from nothing to the largest of the network; LDM use from nothing to all of it.
std::vector<NodeColour> graph_colours(const LoadedPlan& plan, GraphMetric metric, const Theme& theme);
Drawing graph_legend(const LoadedPlan& plan, GraphMetric metric, const Look& look, double width);

}  // namespace stowage::inspector
