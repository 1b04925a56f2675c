// SPDX-License-Identifier: Apache-2.0
// What an edit comes to: one group lowered and evaluated again, in milliseconds, or the rule that refuses it. The
// numbers are the command line's, because the planner is. For worker threads.
#pragma once

#include <optional>

#include "driver/plan_diff.h"
#include "fusion/group_cost.h"
#include "inspector/state/loaded_plan.h"
#include "inspector/whatif/edit.h"

namespace stowage::inspector {

/// What is compared of one group.
struct GroupNumbers {
  std::int64_t transfers = 0;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  std::int64_t ldm_bytes = 0;
  std::int64_t cycles = 0;
  double seconds = 0;
  friend bool operator==(const GroupNumbers&, const GroupNumbers&) = default;
};
GroupNumbers numbers_of(const Plan& plan, const Target& target);

struct Evaluation {
  int step = -1;
  PlanEdit edit;
  Schedule start;    ///< what the plan itself must have fixed: nothing where the planner alone gives it
  Decision refusal;  ///< allowed where there is a plan
  PlanPtr result;    ///< a plan of this one group, its step 0, on the edited target; null where refused
  GroupControls controls;
  [[nodiscard]] const Plan& plan() const { return *result->steps.front().plan; }
  [[nodiscard]] const Target& target() const { return result->program().target; }
};

/// Step `step` of the plan with the edit. The step has a plan.
Evaluation evaluate(const LoadedPlan& plan, int step, const PlanEdit& edit);

/// One or two sentences: how much faster or slower, by which changes, and which term of the estimate makes it so.
std::string verdict(const Plan& before, const Target& target_before, const Plan& after, const Target& target_after);

/// The whole network with the edit, planned anew. Null after a stop or reported errors.
PlanPtr plan_network(const LoadedPlan& plan, const PlanEdit& edit, Diagnostics& diagnostics, std::stop_token stop,
                     const ProgressSink& progress);

}  // namespace stowage::inspector
