// SPDX-License-Identifier: Apache-2.0
// The schedule of a step of plan.json and its way back.
#pragma once

#include <optional>
#include <string>

#include "core/target.h"
#include "driver/json/json.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// What a schedule leaves out has no key, but for axes, copies and launch, which are written as those of a complete
/// one.
Json to_json(const Schedule& schedule);

/// Throws what the JSON library does, or std::invalid_argument.
Schedule schedule_of(const Json& json);

/// What is wrong with a stored schedule, in words, or nothing: it must be complete, and one that a person may fix.
std::optional<std::string> broken_schedule(const std::string& subject, const GroupModel& model,
                                           const Schedule& schedule, const Target& target);

/// Where a nest is not that of a schedule that is not broken, in words, or nothing. The nest has the schedule's grid,
/// its loops in their order with as many trips, and every transfer in its loop. What else lowering makes (extents of
/// buffers, padding, names, forms) may be what another version made of the schedule.
std::optional<std::string> other_than_schedule(const LoopNest& nest, const GroupModel& model, const Schedule& schedule);

}  // namespace stowage
