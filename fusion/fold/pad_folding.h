// SPDX-License-Identifier: Apache-2.0
// A Pad in front of a window operator, folded into the window's own padding.
#pragma once

#include "core/decision.h"
#include "core/graph.h"

namespace stowage {

/// Kinds of operators that may take a Pad into their pads.
bool absorbs_pads(const Operator& op);

struct PadFolding {
  Decision decision;
  Attributes attributes;  ///< of the window operator, with the Pad's numbers added
};

/// The window operator reads the Pad's result as its first operand.
PadFolding folded_pads(const Graph& graph, const Operator& pad, const Operator& window);

}  // namespace stowage
