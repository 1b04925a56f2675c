// SPDX-License-Identifier: Apache-2.0
// Views: operators that move no element, because their result lies where their operands do.
//
//   Reshape, Flatten, Squeeze, Unsqueeze, Identity   the result is its operand's memory under other dimensions
//   Transpose of dimensions of extent 1 only         the same
//   Slice (and Split, which is several)              the result is a strided box inside its operand
//   Concat                                           each operand is a strided box inside the result
//
// place_tensors decides once, before any search, which of them are views; docs/views.md tells by which rules.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/storage_box.h"
#include "core/trace.h"

namespace stowage {

/// Gives tensors their boxes (GraphTensor::inside). The graph is one after fold_intrinsics and has none yet. Every view
/// and every copy that stays is a record of algorithm "placement": subject the operator, place the rule.
/// Of elements narrower than `dma.alignment` bytes a box keeps to whole units of it, in which DMA moves.
Graph place_tensors(const Graph& graph, TraceSink trace, int dma_alignment);

/// True if the operator's result is in place as soon as its operands are: nothing is to be done.
bool is_in_place(const Graph& graph, OpId op);

/// The box of a result that lies inside its operand, which has box `operand`; for the operators above but Concat.
/// Nothing where there is no such box: dimensions merge that are not adjacent in memory, or a step is negative.
std::optional<StorageBox> box_in_operand(const Graph& graph, OpId op, const StorageBox& operand);

/// The boxes of a Concat's operands in its result, which has box `result`; operands without elements are left out.
std::vector<std::pair<TensorId, StorageBox>> boxes_in_result(const Graph& graph, OpId op, const StorageBox& result);

/// The same elements in the same order under another shape; nothing where strides do not allow it.
std::optional<StorageBox> reshaped_box(const StorageBox& box, const Shape& from, const Shape& to);

}  // namespace stowage
