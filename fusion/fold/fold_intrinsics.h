// SPDX-License-Identifier: Apache-2.0
// Intrinsic fusion (DNNVM section 4.1.1): what can be computed before the network runs goes into parameters.
#pragma once

#include "core/graph.h"
#include "core/trace.h"

namespace stowage {

/// Builds the graph with parameters folded. The driver calls it once, before any strategy:
///  - BatchNormalization, and Mul, Div, Add, Sub with a constant per channel, behind a Conv, ConvTranspose, Gemm or
///    MatMul with constant weights go into its weights and bias, which are computed in double and rounded once;
///  - a Gemm's constant B with transB = 1 is transposed, so that B[k][y] is contiguous along y as the papers draw it;
///  - a Pad with zeros in front of a Conv or AveragePool goes into its pads where that is exact;
///  - at last a ConvTranspose of a stride is computed by phases (transposed_phases.h).
/// Output tensors keep the name of the last operator folded, origins are joined, constants that operators share are
/// folded once for all of them with the same result. Every folding and refusal is a record of algorithm "intrinsic".
Graph fold_intrinsics(const Graph& graph, TraceSink trace);

}  // namespace stowage
