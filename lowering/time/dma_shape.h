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
// extent > 1) of block and count together is shorter: then the block or the count is shorter, nothing else. Where
// another one is, the innermost such dimension d ends what one call moves: what lies inside of d still abuts, and what
// lies outside does not any more, so that there is one call for every index of dimensions [0, d). Counts and emitted
// code follow this rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// What one call moves: dimensions [block_from, n) as one block, [strided_from, block_from) as the count of a strided
/// call. Dimensions [0, strided_from) are loops of calls.
struct DmaCalls {
  std::size_t strided_from = 0;
  std::size_t block_from = 0;
  [[nodiscard]] bool is_strided() const { return strided_from < block_from; }
  friend bool operator==(const DmaCalls&, const DmaCalls&) = default;
};

/// Of a box of these extents.
DmaCalls calls_of(const DmaShape& shape, std::span<const std::int64_t> extents);

/// Calls that boxes of a statement may take, and the dimensions that must have their full extent for it.
struct DmaCallsWhere {
  DmaCalls calls;
  std::vector<std::size_t> full;  ///< ascending; of those whose extents vary
};
/// For every box the first that holds of it is calls_of(it); the last one holds of all. `known`: extents that are the
/// same in all boxes.
std::vector<DmaCallsWhere> calls_where(const DmaShape& shape, std::span<const std::optional<std::int64_t>> known);

struct DmaCount {
  std::int64_t operations = 0;  ///< Athread calls
  std::int64_t elements = 0;
  std::int64_t block_elements = 0;  ///< contiguous elements of one block
  friend bool operator==(const DmaCount&, const DmaCount&) = default;
};
/// Operations for one box; all zero if any extent is <= 0.
DmaCount count_operations(const DmaShape& shape, std::span<const std::int64_t> extents);

}  // namespace stowage
