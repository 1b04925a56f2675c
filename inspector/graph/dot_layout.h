// SPDX-License-Identifier: Apache-2.0
// Graphviz's layout of the same graph: `dot` as a process that a stop kills, its answers kept as files by the hash of
// the question.
#pragma once

#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "emitter/pictures/layered_layout.h"

namespace stowage::inspector {

/// The graph in the language of dot; nodes and labels are as large as the input says and have numbers as names.
std::string dot_question(const LayoutInput& input);

/// What `dot -Tplain` answered; nothing where that is damaged or of another graph.
std::optional<LayoutResult> read_dot_answer(const std::string& answer, const LayoutInput& input);

/// The answer that one of `folders` keeps; nothing without one.
std::optional<LayoutResult> kept_dot_layout(const LayoutInput& input, const std::vector<std::string>& folders);

/// Asks `dot`, and keeps its answer in the first of `folders` that can be written to. Nothing when stopped, and where
/// dot is missing or fails (reported). Not for the window's thread.
std::optional<LayoutResult> dot_layout(const LayoutInput& input, const std::vector<std::string>& folders,
                                       Diagnostics& diagnostics, std::stop_token stop = {});

}  // namespace stowage::inspector
