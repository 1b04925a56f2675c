// SPDX-License-Identifier: Apache-2.0
// Second slots that nothing needs.
#pragma once

#include <string>
#include <vector>

#include "lowering/model/group_model.h"
#include "lowering/model/planner.h"
#include "lowering/model/schedule.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {

/// Tensors that a complete schedule gives several slots although they are moved once, so that nothing can be moved
/// beside a computation. `read` is the same schedule.
std::vector<std::string> idle_slots(const GroupModel& model, const Schedule& complete, const ReadSchedule& read);

/// The same where it is not read yet; none where it cannot be.
std::vector<std::string> idle_slots(const GroupModel& model, const Schedule& complete);

/// The schedule, or a refusal where it has such tensors.
Scheduled refusing_idle_slots(const GroupModel& model, Scheduled scheduled);

}  // namespace stowage
