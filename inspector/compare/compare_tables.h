// SPDX-License-Identifier: Apache-2.0
// The difference of two plans as tables: totals and settings, groups with their gains, and what of one group's
// schedule and buffers is other.
#pragma once

#include "inspector/code/code_text.h"
#include "inspector/state/comparison.h"
#include "inspector/tables/table.h"

namespace stowage::inspector {

/// Rows stand for the current plan's steps; for a group that only the baseline has, for nothing.
Table changes_table(const PlanDiff& diff);
/// Sums of the networks and what the targets set otherwise.
Table totals_table(const PlanDiff& diff);
/// Schedule and buffers of one change, baseline and current beside each other.
Table details_table(const GroupChange& change, const LoadedPlan& baseline, const LoadedPlan& current, Units units);
// The tables of a plan (tables/table.h) with what changed since the baseline: a column of changes behind each column
// that is compared. Where groups are fused otherwise, the numbers of all their groups stand with the first.
Table compared_groups(const PlanComparison& comparison);
Table compared_operators(const PlanComparison& comparison);
Table compared_buffers(const PlanComparison& comparison);
Table compared_dma(const PlanComparison& comparison);

/// Two nests line by line; lines that the other has not get a badge: "−" in the baseline, "+" in the current plan.
std::pair<CodeText, CodeText> compared_nests(const LoadedPlan& baseline, std::optional<StepId> baseline_step,
                                             const LoadedPlan& current, std::optional<StepId> current_step,
                                             const Look& look);

}  // namespace stowage::inspector
