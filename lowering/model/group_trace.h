// SPDX-License-Identifier: Apache-2.0
// Records about a group's plan: ids are the numbers of its model's iterators and buffers.
#pragma once

#include <string>

#include "core/trace.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

GroupNames names_of(const GroupModel& model);
/// A trace of the fused operator `subject`, if anybody listens.
GroupTrace group_trace(TraceSink trace, const std::string& subject, const GroupModel& model);
/// A schedule's split over the cores; iterators that there are not are left out.
std::vector<TracedSplit> traced(const GroupModel& model, const std::vector<ParallelSplit>& parallel);

}  // namespace stowage
