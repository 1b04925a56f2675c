// SPDX-License-Identifier: Apache-2.0
// Operators that follow their operands into other dimensions.
#pragma once

#include "core/graph.h"

namespace stowage {

/// Whether an operator computes element by element, whatever dimensions its operands have as long as they broadcast: no
/// attribute of it names dimensions, and it reads each operand at its own index, or where that has extent 1 at 0.
bool is_element_by_element(const Graph& graph, OpId id);

}  // namespace stowage
