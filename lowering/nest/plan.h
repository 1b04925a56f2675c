// SPDX-License-Identifier: Apache-2.0
// A plan of one fused operator.
#pragma once

#include "lowering/ir/loop_nest.h"
#include "lowering/model/schedule.h"
#include "lowering/time/counts.h"
#include "lowering/time/time_model.h"

namespace stowage {

struct Plan {
  Schedule schedule;  ///< complete
  LoopNest nest;
  NestCounts counts;
  TimeEstimate time;
};

}  // namespace stowage
