// SPDX-License-Identifier: Apache-2.0
// What is done with an imported network before operators are fused.
#pragma once

#include <string_view>

#include "core/graph.h"
#include "core/target.h"
#include "core/trace.h"

namespace stowage {

/// Parameters folded (fusion/fold/fold_intrinsics.h), pictures laid out by one of layout_names()
/// (fusion/fold/channel_blocks.h), views placed.
Graph prepared_graph(const Graph& imported, std::string_view layout, const Target& target, TraceSink trace);
/// The same of a graph whose parameters are folded already, for who needs it in several layouts: folding computes as
/// many values as the network has.
Graph laid_out_graph(const Graph& folded, std::string_view layout, const Target& target, TraceSink trace);
/// The layout of a prepared graph of which nobody says it: "given" too where nothing could be blocked.
std::string_view layout_found_in(const Graph& prepared);

}  // namespace stowage
