// SPDX-License-Identifier: Apache-2.0
// A record of a fusion with the cycles that its groups have in the end. A strategy counts every group as the planner
// plans it by itself; where a person fixed a schedule, the chosen group takes another time, and that is its one number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fusion/groups/fusion_record.h"

namespace stowage {

/// Cycles of groups by their operators in topological order; what is not named stays.
using GroupCycles = std::map<std::vector<OpId>, std::int64_t>;

/// Chosen candidates get these cycles, and with them what is counted from them: the strategy's total, what outbid
/// candidates would lose, the ways of the search graphs. A choice that got more expensive is no longer proved best;
/// what it could be cheaper by is then at most what a person's schedules cost more.
void count_as_planned(FusionRecord& record, const GroupCycles& planned);

/// The kernel of the group that holds `first` takes so many cycles more than groups were counted with, whichever group
/// that is. As every partition has one such group, no choice changes.
void count_first_launch(FusionRecord& record, OpId first, std::int64_t cycles);

}  // namespace stowage
