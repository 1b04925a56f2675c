// SPDX-License-Identifier: Apache-2.0
// How fast a target's engines are. The cost of a nest (lowering/time/cost_table.h) and the bounds that prune the search
// for a plan (lowering/search/core_grids.h) read the same rates, so that a bound is never above the cost that it
// bounds.
#pragma once

#include <cstdint>

#include "core/element_type.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/block_alignment.h"

namespace stowage {

/// Bytes per second that the target's cores together reach with blocks of a size. By lines where the
/// target has their rates. Else by block size alone: linear between measured points, constant beyond the last,
/// proportional below the first.
double dma_bandwidth(const Target& target, DmaDirection direction, std::int64_t block_bytes,
                     const BlockAlignment& alignment);

/// The most that blocks of up to this size reach, wherever they lie: the bandwidth need not rise with the block.
double best_dma_bandwidth(const Target& target, std::int64_t block_bytes);

/// The most that blocks of any size reach.
double peak_dma_bandwidth(const Target& target);

/// Operations per cycle of one core in an inner loop over vectors, or over single elements, of a type.
double operations_per_cycle(const Target& target, ElementType type, bool vectors);

/// True if a fill is emitted as stores of whole vectors (floatv4): of the whole buffer, of float32 elements, each slot
/// of which begins at a multiple of a vector.
bool fills_in_vectors(const LoopNest& nest, const Fill& fill, const Target& target);

/// Stores of a fill that sets so many elements in all its executions, one of which a core issues each cycle: vectors,
/// and elements that fill none. None where a sum begins in registers.
std::int64_t fill_stores(const LoopNest& nest, const Fill& fill, std::int64_t elements, const Target& target);

}  // namespace stowage
