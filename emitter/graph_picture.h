// SPDX-License-Identifier: Apache-2.0
// Pictures of graphs in the language of Graphviz's dot; emitter/graphviz.h draws them. What a node or edge is
// stands in its label, and in full in its tooltip (SVG). Deterministic texts.
#pragma once

#include <string>

#include "lowering/plan.h"

namespace stowage {

/// The computation graph as fusion saw it: an operator with kind, name and shape, coloured by fusion kind; an edge with
/// tensor and bytes.
std::string graph_dot(const Graph& graph);

/// The fused graph: a fused operator with its operators inside, coloured by template, with time, share of the whole and
/// bytes of DMA. Every edge goes through main memory, the wider the more bytes; what stays on chip is inside a box.
std::string fused_dot(const Program& program);

}  // namespace stowage
