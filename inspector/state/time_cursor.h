// SPDX-License-Identifier: Apache-2.0
// A cycle of a fused operator's launch that somebody looks at, on one of its cores.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/ids.h"
#include "lowering/simulate/execution_point.h"
#include "lowering/simulate/timeline_tracks.h"

namespace stowage::inspector {

struct TimeCursor {
  std::optional<StepId> step = std::nullopt;
  int core = 0;
  std::int64_t cycle = 0;
  ExecutionPoint point;  ///< of the core
  std::shared_ptr<const TimelineTracks> tracks;
};

}  // namespace stowage::inspector
