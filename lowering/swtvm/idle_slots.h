// SPDX-License-Identifier: Apache-2.0
// Slots that nothing needs.
#pragma once

#include <map>
#include <string>

#include "lowering/model/group_model.h"
#include "lowering/model/planner.h"
#include "lowering/model/schedule.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {

/// Tensors that a complete schedule gives more slots than they are moved by a core → as many as these: of one that is
/// moved once nothing can be moved beside a computation. `read` is the same schedule.
std::map<std::string, int> idle_slots(const GroupModel& model, const Schedule& complete, const ReadSchedule& read);

/// The same where it is not read yet; none where it cannot be.
std::map<std::string, int> idle_slots(const GroupModel& model, const Schedule& complete);

/// The schedule, or a refusal where it has such tensors.
Scheduled refusing_idle_slots(const GroupModel& model, Scheduled scheduled);

}  // namespace stowage
