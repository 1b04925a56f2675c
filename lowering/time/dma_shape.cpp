// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/dma_shape.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/check.h"
#include "core/tensor.h"

namespace stowage {
namespace {

std::int64_t product(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

DmaShape dma_shape(std::span<const std::int64_t> full, std::span<const std::int64_t> buffer,
                   std::span<const std::int64_t> memory_strides) {
  check(full.size() == buffer.size() && full.size() == memory_strides.size(), "DMA box of unequal ranks");
  DmaShape shape;
  shape.full.assign(full.begin(), full.end());
  shape.memory_strides.assign(memory_strides.begin(), memory_strides.end());
  shape.buffer_strides = row_major_strides(buffer);

  // Moves `from` outwards over dimensions whose two strides are what `elements` so far make them, and counts them in.
  const auto extend = [&](std::size_t from, std::int64_t memory_step, std::int64_t buffer_step) {
    while (from > 0) {
      const std::size_t d = from - 1;
      if (full[d] != 1) {
        if (shape.memory_strides[d] != memory_step || shape.buffer_strides[d] != buffer_step) break;
        memory_step *= full[d];
        buffer_step *= full[d];
      }
      --from;
    }
    return from;
  };

  shape.block_from = extend(full.size(), 1, 1);
  shape.strided_from = shape.block_from;
  if (shape.block_from > 0) {
    const std::size_t first = shape.block_from - 1;
    const std::int64_t block = product(full.subspan(first + 1));
    const std::int64_t gap = shape.memory_strides[first] - block;
    if (shape.buffer_strides[first] == block && gap > 0) {
      shape.strided_from = extend(shape.block_from, shape.memory_strides[first], block);
      shape.gap = gap;
    }
  }
  return shape;
}

std::vector<std::size_t> compared_dimensions(const DmaShape& shape) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = shape.strided_from; d < shape.full.size(); ++d) {
    if (shape.full[d] > 1) dimensions.push_back(d);
  }
  if (!dimensions.empty()) dimensions.erase(dimensions.begin());
  return dimensions;
}

bool takes_full_structure(const DmaShape& shape, std::span<const std::int64_t> extents) {
  const std::vector<std::size_t> compared = compared_dimensions(shape);
  return std::all_of(compared.begin(), compared.end(), [&](std::size_t d) { return extents[d] == shape.full[d]; });
}

DmaCount count_operations(const DmaShape& shape, std::span<const std::int64_t> extents) {
  check(extents.size() == shape.full.size(), "DMA box of another rank than its shape");
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t e) { return e <= 0; })) return {};
  DmaCount count;
  count.elements = product(extents);
  if (takes_full_structure(shape, extents)) {
    count.operations = product(extents.first(shape.strided_from));
    count.block_elements = product(extents.subspan(shape.block_from));
  } else {
    count.operations = product(extents.first(extents.size() - 1));
    count.block_elements = shape.memory_strides.back() == 1 ? extents.back() : 1;
  }
  return count;
}

}  // namespace stowage
