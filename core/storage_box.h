// SPDX-License-Identifier: Apache-2.0
// Where a tensor's elements lie in main memory: in memory of its own, row-major and without gaps, or as a strided box
// inside the memory of another tensor. A slice of a tensor, or an operand that is written straight into a
// concatenation, is such a box. docs/views.md tells how boxes are chosen.
#pragma once

#include <span>
#include <string>

#include "core/graph.h"

namespace stowage {

/// Box of a tensor; one that has memory of its own is its own box.
StorageBox box_of(const Graph& graph, TensorId tensor);

/// What is wrong with the box of a tensor (GraphTensor::inside must be there): not inside the storage, two elements at
/// one place …; or nothing.
std::optional<std::string> broken_box(const GraphTensor& tensor, const GraphTensor& storage);

/// Elements from the first to the last of a box, both included; 0 if it has none.
std::int64_t box_reach(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);
/// True if the elements lie one behind the other in row-major order.
bool is_dense(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);
/// True if no two elements of a box share a place. (Sufficient: each dimension steps over all of the ones inside it.)
bool addresses_once(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);
/// True if the two hold the same elements at the same places.
bool same_box(std::span<const std::int64_t> shape, const StorageBox& a, const StorageBox& b);

/// The same strides with those of dimensions of extent 1, which move no address, as row-major order would have them;
/// so a dense box has exactly row_major_strides(shape).
std::vector<std::int64_t> settled_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// Elements of a box in row-major order. `bytes` starts with the box's first element.
Tensor gathered(ElementType type, const Shape& shape, std::span<const std::int64_t> strides,
                std::span<const std::byte> bytes);

/// "in z from element 256 with strides [512, 64, 1]".
std::string to_text(const Graph& graph, const StorageBox& box);
std::string to_text(const std::string& storage, const StorageBox& box);  ///< by the name of what it lies in

/// The same graph with boxes for these of its tensors, and for no others.
Graph with_boxes(const Graph& graph, const std::map<TensorId, StorageBox>& boxes);

}  // namespace stowage
