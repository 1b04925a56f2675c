// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// Whether, under a split, two cores put parts of one line of main memory: the result changes its owner between two
/// elements of one line. It is taken to begin at a line, which a view in the middle of another tensor may not do.
bool cores_share_lines(const GroupModel& model, const std::vector<ParallelSplit>& parallel, int line_bytes);

/// What planner searched makes least: the cycles, and 2 % of them where cores share lines. A target that says what
/// lines take (core/target.h, LineRates) has it in its cycles; of another one nobody has said what sharing costs, and
/// the time model leaves it out.
constexpr std::int64_t price_of(std::int64_t cycles, bool shares_lines) {
  return shares_lines ? cycles + cycles / 50 : cycles;
}

}  // namespace stowage
