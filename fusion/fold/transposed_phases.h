// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of a stride, computed by phases.
#pragma once

#include "core/graph.h"
#include "core/trace.h"

namespace stowage {

/// Every ConvTranspose with constant weights, a stride and no dilation becomes a ConvTransposePhases: output elements
/// s*q + p of phase p meet the same taps at consecutive elements of the input, an ordinary convolution of stride 1,
/// whose inner loop has neither divisions nor taps that come and go. The weights are sorted by phases, with zeros where
/// a phase has fewer taps than others.
///
/// The result has two dimensions for each spatial one and is otherwise in the order of memory, so that a Reshape, a
/// view, is the tensor that others know; where the strides do not divide the extents a Slice cuts off what is behind
/// it. Element-wise operators behind it, and their operands, take its dimensions, so that they can be fused with it.
/// Records are of algorithm "intrinsic".
Graph compute_by_phases(const Graph& graph, TraceSink trace);

}  // namespace stowage
