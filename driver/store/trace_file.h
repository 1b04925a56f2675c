// SPDX-License-Identifier: Apache-2.0
// trace.json (docs/plan-format.md): every decision on the way, and what could have been chosen.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "driver/session/session.h"

namespace stowage {

std::string trace_json(const Compilation& compilation);

struct StoredTrace {
  Trace trace;
  FusionRecord fusion;
};

/// The graph that candidates name operators of; asked for at the first of them, so that another thread may be at it.
using GraphWhenRead = std::function<const Graph&()>;

/// Reads it back, a record at a time: of a large network the file as one JSON value would be several times its size.
/// Whatever is wrong is an exception of the JSON library, or std::runtime_error or std::invalid_argument with a
/// sentence; ReadingStopped when stopped.
StoredTrace read_trace(std::string_view text, const GraphWhenRead& graph, const std::stop_token& stop = {});

/// Whether what planners' records say of a fused operator's iterators can be: names, extents, and the sizes on the way
/// to its plan. Throws std::invalid_argument.
void check_trace(const Program& program, const Trace& trace);

}  // namespace stowage
