// SPDX-License-Identifier: Apache-2.0
// How a box of a tensor becomes Athread operations (block x count x gap).
//
// Only the main-memory side of an Athread call can be strided; the LDM side is packed. So dimensions merge into one
// contiguous block while both sides abut; above the block one more level of dimensions becomes a strided call where the
// LDM side is packed; what remains becomes loops of calls. The structure is chosen once for the full tile; tiles that
// are shorter in a merged dimension (edges) are moved row by row. Counts and emitted code follow the same rule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage {

struct DmaShape {
  std::vector<std::int64_t> full;      ///< extents of the full tile, highest dimension first
  std::vector<std::int64_t> memory_strides;  ///< elements
  std::vector<std::int64_t> buffer_strides;  ///< elements
  int block_from = 0;                  ///< dimensions [block_from, n) form one contiguous block
  int strided_from = 0;                ///< dimensions [strided_from, block_from) are the count of a strided call;
                                       ///< equal to block_from: no stride
  std::int64_t gap = 0;                ///< elements between blocks of a strided call
};

/// `full`: largest extents that occur; `buffer`: allocated extents.
DmaShape dma_shape(std::span<const std::int64_t> full, std::span<const std::int64_t> buffer,
                   std::span<const std::int64_t> memory_strides);

/// True if a box takes the full tile's structure: every dimension of block and count but the outermost one has its
/// full extent. (Emitted as a condition where an extent is not constant.)
bool takes_full_structure(const DmaShape& shape, std::span<const std::int64_t> extents);
/// Dimensions whose extent that condition must compare.
std::vector<int> compared_dimensions(const DmaShape& shape);

struct DmaCount {
  std::int64_t operations = 0;   ///< Athread calls
  std::int64_t elements = 0;
  std::int64_t block_elements = 0;  ///< contiguous elements of one block
};
/// Operations for one box; all zero if any extent is <= 0.
DmaCount count_operations(const DmaShape& shape, std::span<const std::int64_t> extents);

}  // namespace stowage
