// SPDX-License-Identifier: Apache-2.0
// A plan of one fused operator.
#pragma once

#include <optional>

#include "lowering/ir/loop_nest.h"
#include "lowering/model/certificate.h"
#include "lowering/model/schedule.h"
#include "lowering/time/counts.h"
#include "lowering/time/time_model.h"

namespace stowage {

struct Plan {
  Schedule schedule;  ///< complete
  LoopNest nest;
  NestCounts counts;
  TimeEstimate time;
  std::optional<Certificate> certificate = std::nullopt;  ///< of a planner that proves something
  bool is_fixed = false;                                  ///< some part of the schedule was given, not chosen
};

}  // namespace stowage
