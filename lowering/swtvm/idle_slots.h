// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lowering/model/group_model.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {

/// Those of a complete schedule that is read already (lowering/swtvm/planner_swtvm.h).
std::vector<std::string> idle_slots(const GroupModel& model, const Schedule& complete, const ReadSchedule& read);

}  // namespace stowage
