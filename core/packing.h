// SPDX-License-Identifier: Apache-2.0
// The elements of a constant in the order in which a kernel reads them. Weights are packed when a network is compiled.
#pragma once

#include <cstdint>
#include <string>

#include "core/tensor.h"

namespace stowage {

/// Of a tensor seen as [outer, extent, inner]: blocks of `block` along the dimension in the middle, block after block,
/// of which the elements lie innermost. [outer, extent / block, block, inner] becomes
/// [extent / block, outer, inner, block].
struct Packing {
  std::int64_t outer = 1;
  std::int64_t extent = 1;  ///< a multiple of `block`
  std::int64_t inner = 1;
  std::int64_t block = 1;
  friend bool operator==(const Packing&, const Packing&) = default;
};

std::string to_text(const Packing& packing);  ///< "packed [1, 64, 576] by 8"

/// Along dimension `dimension` of a shape.
Packing packing_along(const Shape& shape, std::size_t dimension, std::int64_t block);

/// The tensor's elements in that order, as `shape`; and back. Their number must be that of the packing.
Tensor packed(const Tensor& value, const Packing& packing, Shape shape);
Tensor unpacked(const Tensor& value, const Packing& packing, Shape shape);

}  // namespace stowage
