// SPDX-License-Identifier: Apache-2.0
// Two plans compared, once for all panes: which change each step belongs to, and which step of the baseline it stands
// for.
#pragma once

#include "driver/diff/plan_diff.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

struct PlanComparison {
  PlanPtr baseline;
  PlanPtr current;
  PlanDiff diff;
  using Changes = IdVector<StepId, std::optional<std::size_t>>;  ///< by step, index into diff.groups
  Changes change_of_step;                                        ///< of the current plan
  Changes change_of_baseline_step;

  /// Of a step of the current plan; null without one.
  [[nodiscard]] const GroupChange* change_of(std::optional<StepId> step) const;
  /// The first step of the current plan in the same change: its numbers are shown there, once.
  [[nodiscard]] bool leads(std::optional<StepId> step) const;
  /// The baseline's only step in the change of a step that is alone in it too.
  [[nodiscard]] std::optional<StepId> baseline_step(std::optional<StepId> step) const;
};
using ComparisonPtr = std::shared_ptr<const PlanComparison>;

/// For worker threads.
ComparisonPtr compare_plans(PlanPtr baseline, PlanPtr current, const std::stop_token& stop = {});

}  // namespace stowage::inspector
