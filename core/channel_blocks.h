// SPDX-License-Identifier: Apache-2.0
// Pictures with their channels in blocks: [N, C, H, W] lies in memory as [N, C / block, H, W, block], oneDNN's nChw8c.
// The channels of a block lie side by side, so that a vector holds one pixel of several channels, whatever the width of
// the picture, the stride or the padding, and a row of W pixels is one transfer of W * block elements.
//
// Convolutions and pools read and write such pictures; the attribute "channel_blocks" says so, as two numbers: channels
// a block of the first operand and of the result, 0 where they lie as ONNX has them. Weights of a convolution whose
// result is in blocks have the features of a block innermost: [M / block, C, kernel…, block]. No ONNX file has the
// attribute: fusion/fold/channel_blocks.h introduces it.
#pragma once

#include <cstdint>

#include "core/graph.h"

namespace stowage {

inline constexpr const char* channel_blocks_attribute = "channel_blocks";

struct ChannelBlocks {
  std::int64_t operand = 0;  ///< channels a block; 0: the first operand is [N, C, spatial…]
  std::int64_t result = 0;
  friend bool operator==(const ChannelBlocks&, const ChannelBlocks&) = default;
};

/// Of an operator; none where its attributes do not say so, or not by two numbers.
ChannelBlocks channel_blocks_of(const Attributes& attributes);
/// Whether any operator has some.
bool has_channel_blocks(const Graph& graph);

/// A shape with dimension `dimension`, a multiple of `block`, cut into blocks whose elements are the last dimension.
Shape blocked_shape(Shape shape, std::size_t dimension, std::int64_t block);
/// The shape of which that was made.
Shape unblocked_shape(Shape shape, std::size_t dimension);

/// The elements in that order, and back. Pictures are blocked along dimension 1, weights along dimension 0.
Tensor blocked(const Tensor& tensor, std::size_t dimension, std::int64_t block);
Tensor unblocked(const Tensor& tensor, std::size_t dimension);

}  // namespace stowage
