// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/group_model.h"
#include "lowering/schedule.h"

namespace stowage {

/// Whether, under a split, two cores put parts of one line of main memory: the result changes its owner between two
/// elements of one line. It is taken to begin at a line, which a view in the middle of another tensor may not do.
bool cores_share_lines(const GroupModel& model, const std::vector<ParallelSplit>& parallel, int line_bytes);

}  // namespace stowage
