// SPDX-License-Identifier: Apache-2.0
// When what an earlier stage of a group computes can be stored as well.
#pragma once

#include <optional>

#include "core/decision.h"
#include "lowering/model/group_model.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {

/// Why the results of earlier stages that are outputs of the group would not be stored whole and once under a schedule;
/// nothing where they are. The root's result always is.
std::optional<Decision> check_stores(const GroupModel& model, const ReadSchedule& schedule);

}  // namespace stowage
