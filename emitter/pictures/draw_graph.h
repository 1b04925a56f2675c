// SPDX-License-Identifier: Apache-2.0
// A picture of a graph by Graphviz, in a layout that it looks for, or where that takes too long in one of our own.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "core/diagnostics.h"
#include "emitter/pictures/dot_graph.h"

namespace stowage {

/// What a simpler layout may take to be made and drawn: some seconds for networks of tens of thousands of operators.
constexpr std::chrono::milliseconds usual_drawing_time{60'000};

/// The picture as "svg", "png" or "pdf". If Graphviz has found no layout within `layout_time`, the nodes stand in
/// layers (emitter/pictures/layered_layout.h), which the picture says below its title and a warning "layout-timeout"
/// says too. All that Graphviz is asked together ends `drawing_time` after that. Nothing where it is missing, fails or
/// takes longer (reported), and when stopped.
Result<std::string> draw_graph(const DotGraph& graph, const std::string& format, std::chrono::milliseconds layout_time,
                               Diagnostics& diagnostics, const std::stop_token& stop = {},
                               std::chrono::milliseconds drawing_time = usual_drawing_time);

}  // namespace stowage
