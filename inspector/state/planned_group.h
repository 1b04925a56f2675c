// SPDX-License-Identifier: Apache-2.0
// One group of a plan, planned as the plan's family and planner do it. For worker threads.
#pragma once

#include "core/target.h"
#include "core/trace.h"
#include "fusion/groups/fused_graph.h"
#include "inspector/state/loaded_plan.h"
#include "lowering/model/schedule.h"
#include "lowering/program/program_step.h"

namespace stowage::inspector {

/// Refused too where the plan names a planner that there is not. `fixed` is null where nothing of the group is fixed;
/// else the family is Athread.
PlannedStep plan_group_of(const LoadedPlan& plan, const FusedOperator& group, const Schedule* fixed,
                          const Target& target, TraceSink trace = {});

}  // namespace stowage::inspector
