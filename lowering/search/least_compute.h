// SPDX-License-Identifier: Apache-2.0
// What a core takes at least for its points of a stage, in whatever form their loops are emitted.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/stage.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/inner_loop.h"

namespace stowage {

/// What a core computes of a stage's result, whole reductions included.
struct StagePoints {
  std::int64_t points = 0;
  std::int64_t most_lanes = 1;  ///< of any row of them
};

/// How long what is computed at once can be: its lanes, its rows along any other axis, and the points of its sums.
struct TileReach {
  std::int64_t lanes = std::numeric_limits<std::int64_t>::max();
  std::int64_t rows = std::numeric_limits<std::int64_t>::max();
  std::int64_t reduced = std::numeric_limits<std::int64_t>::max();
  /// Nothing is known of the tiles.
  [[nodiscard]] bool is_any() const { return lanes == std::numeric_limits<std::int64_t>::max(); }
};

/// Of one stage. The loops of short tiles are entered more often for the same points, and have fewer accumulators to go
/// on with while one of them waits for its result.
class LeastCompute {
 public:
  /// `ends_sum`: it is computed in place of another stage's result, whose registers may have it still.
  LeastCompute(const Stage& stage, bool ends_sum, const Target& target);

  /// Cycles in tiles of this reach or less.
  [[nodiscard]] double cycles(const StagePoints& of, const TileReach& tile) const;

 private:
  /// Of a point of a part of the stage.
  struct OfPart {
    double scalar = 0, vectors = 0;  ///< of short and of long rows
    double at_rate = 0;              ///< of long rows, at the target's rate
    std::vector<BlockGroup> groups;  ///< where it is summed in them
    [[nodiscard]] double cycles(const TileReach& tile, std::int64_t shortest, std::int64_t lanes) const;
  };
  static OfPart part_of(const Stage& stage, Compute::Part part, bool ends_sum, const Target& target);

  std::int64_t lanes_ = 1;     ///< of a vector
  std::int64_t shortest_ = 1;  ///< row of vectors
  double updates_ = 1;         ///< for each point
  OfPart body_;
  std::optional<OfPart> finish_;
};

}  // namespace stowage
