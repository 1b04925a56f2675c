// SPDX-License-Identifier: Apache-2.0
#include "core/channel_blocks.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/transpose.h"

namespace stowage {
namespace {

/// [count, rows, columns] becomes [count, columns, rows]. The result has shape `shape`.
Tensor transposed_each(const Tensor& tensor, std::int64_t rows, std::int64_t columns, Shape shape) {
  return Tensor::filled(tensor.type(), std::move(shape), [&](std::span<std::byte> to) {
    transpose_each(tensor.bytes(), to, byte_size(tensor.type()), static_cast<std::size_t>(rows),
                   static_cast<std::size_t>(columns));
  });
}

std::int64_t elements_behind(const Shape& shape, std::size_t dimension) {
  return element_count({shape.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, shape.end()});
}

}  // namespace

ChannelBlocks channel_blocks_of(const Attributes& attributes) {
  const auto found = attributes.find(channel_blocks_attribute);
  if (found == attributes.end()) return {};
  const auto* const numbers = std::get_if<std::vector<std::int64_t>>(&found->second);
  if (numbers == nullptr || numbers->size() != 2) return {};
  return {(*numbers)[0], (*numbers)[1]};
}

bool has_channel_blocks(const Graph& graph) {
  const auto operators = graph.operators();
  return std::any_of(operators.begin(), operators.end(),
                     [](const Operator& op) { return channel_blocks_of(op.attributes) != ChannelBlocks{}; });
}

Shape blocked_shape(Shape shape, std::size_t dimension, std::int64_t block) {
  check(block > 0 && dimension < shape.size() && shape[dimension] % block == 0, "a dimension is no number of blocks");
  shape[dimension] /= block;
  shape.push_back(block);
  return shape;
}

Shape unblocked_shape(Shape shape, std::size_t dimension) {
  check(dimension + 1 < shape.size(), "a shape without blocks");
  shape[dimension] *= shape.back();
  shape.pop_back();
  return shape;
}

Tensor blocked(const Tensor& tensor, std::size_t dimension, std::int64_t block) {
  return transposed_each(tensor, block, elements_behind(tensor.shape(), dimension),
                         blocked_shape(tensor.shape(), dimension, block));
}

Tensor unblocked(const Tensor& tensor, std::size_t dimension) {
  Shape shape = unblocked_shape(tensor.shape(), dimension);
  const std::int64_t columns = elements_behind(shape, dimension);
  return transposed_each(tensor, columns, tensor.shape().back(), std::move(shape));
}

}  // namespace stowage
