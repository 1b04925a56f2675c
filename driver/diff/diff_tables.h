// SPDX-License-Identifier: Apache-2.0
// A PlanDiff as tables: `stowage diff` prints them, and the window shows them.
#pragma once

#include "driver/diff/plan_diff.h"
#include "driver/report/table.h"

namespace stowage {

/// A row for every change, in their order; keys: baseline, group, change, cycles_before, cycles_now, cycles, share,
/// dma_bytes, dma_transfers, dma_operations, ldm_bytes, why. Rows stand for steps of the second plan, if it has one.
PlanTable changes_table(const PlanDiff& diff);

/// Names and sums of both networks; keys: what, baseline, current, change, share.
PlanTable totals_table(const PlanDiff& diff);

/// What the targets set otherwise; keys: what, baseline, current.
PlanTable settings_table(const PlanDiff& diff);

/// What the schedule of one change sets otherwise; keys: what, baseline, current.
PlanTable schedule_table(const GroupChange& change);

/// "the same", "planned otherwise", "fused otherwise", "gone", "new".
std::string_view kind_text(GroupChange::Kind kind);

}  // namespace stowage
