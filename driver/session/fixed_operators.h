// SPDX-License-Identifier: Apache-2.0
// Groups that are fixed by the names of their operators, and those of a graph.
#pragma once

#include <vector>

#include "driver/session/session.h"

namespace stowage {

/// Operators of fixed groups in a graph; names that it has not, or has in two groups, are reported.
Result<std::vector<std::vector<OpId>>> find_groups(const Graph& graph, const std::vector<FixedGroup>& groups,
                                                   Diagnostics& diagnostics);

std::vector<FixedGroup> groups_of(const FusedGraph& fused);

}  // namespace stowage
