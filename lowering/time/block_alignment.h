// SPDX-License-Identifier: Apache-2.0
// How the blocks of a transfer lie in main memory: which lines they touch, and whether the cores ask for blocks that
// lie side by side. That decides how long main memory takes for them (core/target.h, LineRates).
#pragma once

#include <cstdint>

#include "core/target.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

struct BlockAlignment {
  /// Bytes by which the addresses of blocks differ: a power of two, at most a line. Within a line blocks are taken to
  /// begin at `first_start` and each of its multiples behind that equally often.
  std::int64_t start_step = 1;
  std::int64_t first_start = 0;  ///< bytes, less than a step
  /// Cores whose blocks of the same trip lie in one page, or are the same.
  std::int64_t cores_in_page = 1;

  friend bool operator==(const BlockAlignment&, const BlockAlignment&) = default;
};

/// Of a transfer on a target that has LineRates. Tensors are taken to begin at a line, which a view in the middle of
/// another tensor may not do.
BlockAlignment block_alignment(const LoopNest& nest, const Dma& dma, const Enclosing& around, const Target& target);

}  // namespace stowage
