// SPDX-License-Identifier: Apache-2.0
// Other ways to group a plan's operators: what an edit makes of the groups, what else the templates allow and what it
// costs, and how an edit takes such a way. Operators are those of the plan's graph. For worker threads where it says
// so.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "fusion/strategies/candidates.h"
#include "inspector/state/loaded_plan.h"
#include "inspector/whatif/edit.h"

namespace stowage::inspector {

/// Every group that templates allow in a plan, with its cost on one target.
struct GroupChoices {
  PlanPtr plan;
  std::map<std::string, std::string> target;  ///< the edit's settings, with which it was priced
  CandidateSet set;
  /// The candidate of these operators, refused or not; null without one.
  [[nodiscard]] const CandidateGroup* find(const std::vector<OpId>& operators) const;
};
using GroupChoicesPtr = std::shared_ptr<const GroupChoices>;

/// Prices every candidate group as the command line does (GroupCost). Null when stopped, or where the target cannot be.
/// For worker threads.
GroupChoicesPtr price_groups(const PlanPtr& plan, const PlanEdit& edit, const std::stop_token& stop = {});

using Grouping = std::vector<std::vector<OpId>>;

/// Steps of the plan around an operator whose operators an edit groups otherwise, all that its groups touch, and the
/// groups that stand instead. Without such groups: the operator's step, and its group.
struct Regrouped {
  std::vector<StepId> steps;  ///< ascending
  Grouping groups;
  bool otherwise = false;
};
Regrouped regrouped_at(const LoadedPlan& plan, const PlanEdit& edit, OpId op);

/// One other way to group the operators of an edited plan.
struct Regrouping {
  Grouping before;
  Grouping after;         ///< of the same operators, the group that it is about first
  std::string templates;  ///< that take the first of `after`
  std::int64_t cycles_before = 0;
  std::int64_t cycles_after = 0;
  std::vector<Decision> refusals;  ///< if it cannot be; `after` is then that one group
  bool as_planned = false;         ///< the way back to the plan's own groups
  bool counted = true;  ///< false: the groups before cannot be planned as they are edited, and count without schedules
  [[nodiscard]] std::int64_t change() const { return cycles_after - cycles_before; }
};
/// All ways that give `op` another group than the edited plan, what else its group's and the joined groups' operators
/// make grouped as well as possible; the way back first, then the cheapest first, refused ones last. Everything is
/// counted on the edited target, and from the groups as they are edited, with their schedules. For worker threads.
std::vector<Regrouping> regroupings(const GroupChoices& choices, const PlanEdit& edit, OpId op);

/// The edit with these groups fixed. Schedules of groups that are gone go with them; the groups of a plan are not
/// fixed.
PlanEdit with_groups(const LoadedPlan& plan, PlanEdit edit, const Grouping& groups);

/// The edit with all that it takes for the command line to come to the edited plan: groups that the strategy would not
/// choose by itself on the edited target, and schedules that the planner would not. Nothing when stopped. For worker
/// threads.
std::optional<PlanEdit> complete_edit(const PlanPtr& plan, const PlanEdit& edit, const std::stop_token& stop = {});

}  // namespace stowage::inspector
