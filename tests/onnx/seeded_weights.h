// SPDX-License-Identifier: Apache-2.0
// Networks whose weights were taken out (every weight one constant) get weights to compute with.
#pragma once

#include <cstdint>

#include "core/graph.h"

namespace stowage::test {

/// The graph with every float32 constant of equal elements (and more than one) replaced by seeded random values, scaled
/// so that activations stay in range: weights of convolutions and products by their fan-in, variances and scales
/// around 1, everything else around 0.
Graph with_seeded_weights(const Graph& graph, std::uint32_t seed);

}  // namespace stowage::test
