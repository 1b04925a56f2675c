// SPDX-License-Identifier: Apache-2.0
// The least that a fused operator takes on a target, however it is planned: how far a plan is from it says what a
// better one could bring at most.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/stage.h"
#include "core/target.h"

namespace stowage {

struct PhysicalLimit {
  /// What has to be loaded and stored: of each tensor in main memory the elements that the stages ask for, once. Where
  /// which these are comes from values of tensors, one element. Of a product whose operands no LDMs hold what has to be
  /// loaded again besides (lowering/search/io_bound.h).
  std::int64_t bytes = 0;
  double moving_seconds = 0;     ///< for these at the best bandwidth of the target
  double computing_seconds = 0;  ///< every point once, on all cores at the best rate of its type
  /// The critical path: nothing is stored before something was loaded, and each takes as long as a transfer of next to
  /// nothing does. What is computed between counts as nothing, as many cores may have a part in one sum.
  double critical_path_seconds = 0;

  /// All at the same time; nothing for launches.
  [[nodiscard]] double seconds() const { return std::max({moving_seconds, computing_seconds, critical_path_seconds}); }
};

/// Of a target of the family Athread.
PhysicalLimit physical_limit(const StageList& stages, const Target& target);

}  // namespace stowage
