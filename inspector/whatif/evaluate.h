// SPDX-License-Identifier: Apache-2.0
// What an edit comes to: one group lowered and evaluated again, in milliseconds, or the rule that refuses it. The
// numbers are the command line's, because the planner is. For worker threads.
#pragma once

#include <optional>

#include "core/decision.h"
#include "driver/diff/plan_diff.h"
#include "inspector/look/look.h"
#include "inspector/state/loaded_plan.h"
#include "inspector/whatif/edit.h"
#include "inspector/whatif/regroup.h"

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
/// Several steps, one after the other: sums, and the largest LDM.
GroupNumbers numbers_of(const std::vector<const StepPlan*>& plans, const Target& target);

struct Evaluation {
  StepId step;  ///< of the plan
  OpId focus;   ///< one of its operators: where groups are other than the plan's, the one with it is shown
  PlanEdit edit;
  std::vector<StepId> steps;        ///< of the plan that are evaluated: one, or all that the edit's groups touch
  std::vector<std::string> groups;  ///< the operators of each step of `result`, in words: "conv1 + relu1"
  bool regrouped = false;           ///< these groups are not the plan's
  StepId shown;                     ///< step of `result`
  std::string name;                 ///< of the fused operator that is shown
  Schedule start;                   ///< what of it must be fixed to have the plan: nothing where the planner gives it
  Decision refusal;                 ///< allowed where there is a plan
  PlanPtr result;                   ///< a plan of these groups alone, on the edited target; null where refused
  GroupControls controls;
  [[nodiscard]] const Plan& plan() const { return *result->steps[shown].plan; }
  [[nodiscard]] const Target& target() const { return result->program().target; }
  /// Of the plan, and of the result: those that are compared.
  [[nodiscard]] std::vector<const StepPlan*> plans_before(const LoadedPlan& plan) const;
  [[nodiscard]] std::vector<const StepPlan*> plans_after() const;
};

/// The groups around `focus`, an operator of the plan's step `step`, with the edit. `choices` gives the groups that an
/// edit names; null will do for an edit without groups, its target does not matter.
Evaluation evaluate(const LoadedPlan& plan, StepId step, OpId focus, const PlanEdit& edit, const GroupChoices* choices);
/// The target with the edit's settings; of a plan by a learned evaluator only its own. Mistakes are reported.
Result<Target> target_to_plan(const LoadedPlan& plan, const PlanEdit& edit, Diagnostics& diagnostics);
/// Of an edit without groups.
Evaluation evaluate(const LoadedPlan& plan, StepId step, const PlanEdit& edit);

/// What must be fixed of a group of the plan for the planner to give its schedule: nothing, or, where a person fixed
/// some part of it (which part, a plan does not tell), all.
Schedule start_schedule(const LoadedPlan& plan, const FusedOperator& group);

/// One or two sentences: how much faster or slower, by which changes, and which term of the estimate makes it so.
std::string verdict(const Plan& before, const Target& target_before, const Plan& after, const Target& target_after,
                    Units units = {});
/// The same of an evaluation, whose groups may be others than the plan's.
std::string verdict(const LoadedPlan& plan, const Evaluation& evaluation, Units units = {});

/// The whole network with the edit, planned anew, as the command line plans it. Null after a stop or reported errors.
PlanPtr plan_network(const PlanPtr& plan, const PlanEdit& edit, Diagnostics& diagnostics, std::stop_token stop,
                     const ProgressSink& progress);

}  // namespace stowage::inspector
