// SPDX-License-Identifier: Apache-2.0
// Indices that the network's inputs bring along: what a Gather looks up must exist, or the program reads memory that is
// none of its business.
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/graph.h"

namespace stowage {

/// The tensor that `tensor` repeats, element by element in the same order, under other shapes or integer types.
TensorId unchanged_from(const Graph& graph, TensorId tensor);

/// Reports every Gather that `inputs` (in the network's order) lead outside of what it looks up: with the input,
/// position, value and bound where an input is looked up as it stands, else with the operator that computes the index.
/// `files` by input name, for the place. True if there is none.
bool check_indices(const Graph& graph, std::span<const Tensor> inputs, const std::map<std::string, std::string>& files,
                   Diagnostics& diagnostics);

}  // namespace stowage
