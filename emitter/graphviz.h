// SPDX-License-Identifier: Apache-2.0
// Graphviz's `dot` as a process whose text is written and read.
#pragma once

#include <stop_token>
#include <string>

#include "core/diagnostics.h"

namespace stowage {

/// True if `dot` can be executed.
bool has_graphviz();

/// What makes it available, for messages.
std::string graphviz_remedy();

/// A picture of a graph in the language of dot: `format` is "svg", "png" or "pdf" (or another one of dot's). `dot` is
/// killed when a stop is requested; then, and where it is missing or fails (reported), there is no result.
Result<std::string> draw_with_graphviz(const std::string& dot_text, const std::string& format, Diagnostics& diagnostics,
                                       const std::stop_token& stop = {});

/// The same SVG with a description, which a viewer may show and a reader of the file finds at its beginning.
std::string described_svg(std::string svg, const std::string& description);

/// An SVG text of dot as an element of an HTML page: without XML declaration, document type and comments, its ids
/// starting with `prefix` so that several pictures fit on one page.
std::string inline_svg(const std::string& svg, const std::string& prefix);

}  // namespace stowage
