// SPDX-License-Identifier: Apache-2.0
// Pictures of graphs; emitter/pictures/draw_graph.h draws them. What a node or edge is stands in its label, and in full
// in its tooltip (SVG).
#pragma once

#include "emitter/pictures/dot_graph.h"
#include "fusion/groups/fusion_record.h"
#include "lowering/program/program.h"

namespace stowage {

/// The computation graph as fusion saw it: an operator with kind, name and shape, coloured by fusion kind; an edge with
/// tensor and bytes.
DotGraph graph_picture(const Graph& graph);

/// The fused graph: a fused operator with its operators inside, coloured by template, with time, share of the whole and
/// bytes of DMA. Every edge goes through main memory, the wider the more bytes; what stays on chip is inside a box.
DotGraph fused_picture(const Program& program);

/// What a strategy searched: nodes are partial executions, edges fused operators with their cycles, the chosen path
/// lit. `graph` is the one whose operators the record names; record.graphs must not be empty.
DotGraph strategy_picture(const Graph& graph, const FusionRecord& record);

}  // namespace stowage
