// SPDX-License-Identifier: Apache-2.0
// What two schedules of a fused operator make otherwise of its stages, before anything is split or sized.
#pragma once

#include <vector>

#include "driver/diff/plan_diff.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// Appends what differs in axes taken as one, lanes in blocks, copied inputs, folded stages and split reductions.
void add_form_changes(std::vector<ScheduleChange>& changes, const Schedule& a, const Schedule& b);

}  // namespace stowage
