// SPDX-License-Identifier: Apache-2.0
// Graphviz's `dot` as a process whose text is written and read.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "core/diagnostics.h"

namespace stowage {

/// How long `dot` may look for a layout unless somebody says otherwise. Networks in which everything reads everything
/// take it minutes, for a picture hardly better than a simple one.
constexpr std::chrono::milliseconds usual_layout_time{20'000};

/// True if `dot` can be executed.
bool has_graphviz();

/// What makes it available, for messages.
std::string graphviz_remedy();

struct GraphvizAnswer {
  std::string text;          ///< empty if out of time
  bool out_of_time = false;  ///< `dot` was killed, having taken longer than it might
};

/// What `dot` makes of a graph in its language: `format` is "svg", "png" or "pdf" (or another one of dot's). `dot` is
/// killed when a stop is requested; then, and where it is missing or fails (reported), there is no result.
Result<GraphvizAnswer> ask_graphviz(const std::string& dot_text, const std::string& format,
                                    std::chrono::milliseconds time_limit, Diagnostics& diagnostics,
                                    const std::stop_token& stop = {});

/// The same for a graph that holds the places of all nodes and edges, as "pos"; there is nothing to look for.
Result<GraphvizAnswer> draw_placed(const std::string& dot_text, const std::string& format,
                                   std::chrono::milliseconds time_limit, Diagnostics& diagnostics,
                                   const std::stop_token& stop = {});

/// The same SVG with a description, which a viewer may show and a reader of the file finds at its beginning.
std::string described_svg(std::string svg, const std::string& description);

/// An SVG text of dot as an element of an HTML page: without XML declaration, document type and comments, its ids
/// starting with `prefix` so that several pictures fit on one page.
std::string inline_svg(const std::string& svg, const std::string& prefix);

}  // namespace stowage
