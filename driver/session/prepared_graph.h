// SPDX-License-Identifier: Apache-2.0
// What is done with an imported network before operators are fused.
#pragma once

#include <string_view>

#include "core/graph.h"
#include "core/target.h"
#include "core/trace.h"

namespace stowage {

/// Parameters folded, pictures laid out by one of layout_names() (fusion/fold/channel_blocks.h), views placed.
Graph prepared_graph(const Graph& imported, std::string_view layout, const Target& target, TraceSink trace);
/// The layout of a prepared graph of which nobody says it: "given" too where nothing could be blocked.
std::string_view layout_found_in(const Graph& prepared);

}  // namespace stowage
