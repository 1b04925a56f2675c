// SPDX-License-Identifier: Apache-2.0
// From a complete schedule to a loop nest.
#pragma once

#include <string>
#include <variant>

#include "core/decision.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

using Lowered = std::variant<LoopNest, Decision>;

/// The loop nest of a complete schedule: what the passes of lowering/nest/passes.h make of it. Pure: the same input
/// gives the same nest.
Lowered lower(const std::string& name, const StageList& stages, const Schedule& schedule, const Target& target);

/// The same from the model of the stages, where that is at hand.
Lowered lower(const std::string& name, const GroupModel& model, const Schedule& schedule, const Target& target);

}  // namespace stowage
