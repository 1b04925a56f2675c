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

namespace {

/// Dimensions of block and count but the outermost, ascending, of full extent > 1: where one of them is shorter, what
/// is outside of it does not abut.
std::vector<std::size_t> inner_dimensions(const DmaShape& shape) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = shape.strided_from; d < shape.full.size(); ++d) {
    if (shape.full[d] > 1) dimensions.push_back(d);
  }
  if (!dimensions.empty()) dimensions.erase(dimensions.begin());
  return dimensions;
}

/// Where `shorter` is the innermost dimension that is shorter than the full tile's.
DmaCalls calls_up_to(const DmaShape& shape, std::size_t shorter) {
  return {shorter, std::max(shorter, shape.block_from)};
}

}  // namespace

DmaCalls calls_of(const DmaShape& shape, std::span<const std::int64_t> extents) {
  DmaCalls calls{shape.strided_from, shape.block_from};
  for (const std::size_t d : inner_dimensions(shape)) {
    if (extents[d] != shape.full[d]) calls = calls_up_to(shape, d);
  }
  return calls;
}

std::vector<DmaCallsWhere> calls_where(const DmaShape& shape, std::span<const std::optional<std::int64_t>> known) {
  std::vector<DmaCallsWhere> found = {{{shape.strided_from, shape.block_from}, {}}};
  for (const std::size_t d : inner_dimensions(shape)) {
    if (known[d] && *known[d] == shape.full[d]) continue;
    if (known[d]) {
      found.clear();  // it is always shorter
    } else {
      for (DmaCallsWhere& outside : found) outside.full.push_back(d);
    }
    found.push_back({calls_up_to(shape, d), {}});
  }
  return found;
}

DmaCount count_operations(const DmaShape& shape, std::span<const std::int64_t> extents) {
  check(extents.size() == shape.full.size(), "DMA box of another rank than its shape");
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t e) { return e <= 0; })) return {};
  DmaCount count;
  count.elements = product(extents);
  const DmaCalls calls = calls_of(shape, extents);
  count.operations = product(extents.first(calls.strided_from));
  count.block_elements = product(extents.subspan(calls.block_from));
  return count;
}

}  // namespace stowage
