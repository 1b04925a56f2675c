// SPDX-License-Identifier: Apache-2.0
// How a box of a tensor becomes Athread operations (block x count x gap).
//
// Only the main-memory side of an Athread call can be strided; the LDM side is packed. So dimensions merge into one
// contiguous block while both sides abut; above the block one more level of dimensions becomes a strided call where the
// LDM side is packed; what remains becomes loops of calls. The structure is chosen once, for the full tile:
//
//   block    dimensions [block_from, n): taken from the innermost outwards while memory stride and buffer stride both
//            equal the elements so far. Empty (one element) if the innermost memory stride is not 1.
//   count    dimensions [strided_from, block_from): the first one abuts in the buffer (buffer stride == elements of
//            the block) and leaves a gap in memory; further ones join while both strides continue the pattern.
//   loops    dimensions [0, strided_from): one call each.
//
// A dimension of full extent 1 moves no address, so it joins whatever level is being built; it never ends one.
//
// Edges: a box shorter than the full tile takes the same structure as long as only the outermost dimension (of full
// extent > 1) of block and count together is shorter: then the block or the count is shorter, nothing else. Any other
// box is moved row by row: one call for every index of dimensions [0, n-1), of extents[n-1] contiguous elements if the
// innermost memory stride is 1, else a strided call with blocks of one element. Counts and emitted code follow this
// rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stowage {

struct DmaShape {
  std::vector<std::int64_t> full;            ///< extents of the full tile, highest dimension first
  std::vector<std::int64_t> memory_strides;  ///< elements
  std::vector<std::int64_t> buffer_strides;  ///< elements
  std::size_t block_from = 0;                ///< dimensions [block_from, n) form one contiguous block
  std::size_t strided_from = 0;              ///< dimensions [strided_from, block_from) are the count of a strided call;
                                             ///< equal to block_from: no stride
  std::int64_t gap = 0;                      ///< elements between blocks of a strided call
};

/// `full`: largest extents that occur; `buffer`: allocated extents. All three have one entry per tensor dimension.
DmaShape dma_shape(std::span<const std::int64_t> full, std::span<const std::int64_t> buffer,
                   std::span<const std::int64_t> memory_strides);

/// True if a box takes the full tile's structure: every one of compared_dimensions has its full extent. (Emitted as a
/// condition where an extent is not constant.)
bool takes_full_structure(const DmaShape& shape, std::span<const std::int64_t> extents);
/// Dimensions of block and count whose extent that condition must compare, ascending: those of full extent > 1 but the
/// outermost.
std::vector<std::size_t> compared_dimensions(const DmaShape& shape);

struct DmaCount {
  std::int64_t operations = 0;  ///< Athread calls
  std::int64_t elements = 0;
  std::int64_t block_elements = 0;  ///< contiguous elements of one block
  friend bool operator==(const DmaCount&, const DmaCount&) = default;
};
/// Operations for one box; all zero if any extent is <= 0.
DmaCount count_operations(const DmaShape& shape, std::span<const std::int64_t> extents);

}  // namespace stowage
