// SPDX-License-Identifier: Apache-2.0
// Values for a network's inputs: from .npy files, or seeded random ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/graph.h"

namespace stowage {

struct NetworkInputs {
  std::vector<Tensor> values;       ///< in the network's order
  std::vector<std::string> random;  ///< names of those that were made up
};

/// `files` by input name. Inputs without a file get values that depend on seed and name only: floats uniform in
/// [-1, 1), truth values, and integers in [0, n) where n is the smallest extent that a Gather looks up with them,
/// or 2. Unknown names, files of the wrong type or shape, and indices that point outside (driver/run/index_check.h) are
/// reported.
Result<NetworkInputs> network_inputs(const Graph& graph, const std::map<std::string, std::string>& files,
                                     std::uint64_t seed, Diagnostics& diagnostics);

/// The made-up value of one input.
Tensor random_input(const Graph& graph, TensorId input, std::uint64_t seed);

}  // namespace stowage
