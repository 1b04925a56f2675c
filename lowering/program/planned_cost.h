// SPDX-License-Identifier: Apache-2.0
// lowering's answer to fusion's question: plans a group and reports its cycles. Equal groups are planned once,
// different ones in parallel, and what was planned once is remembered on disk.
#pragma once

#include <filesystem>

#include "core/target.h"
#include "fusion/groups/group_cost.h"
#include "lowering/evaluate/evaluator.h"
#include "lowering/model/planner.h"
#include "lowering/program/plan_choices.h"

namespace stowage {

struct CostOptions {
  unsigned threads = 0;            ///< 0: one a core of this host. Answers do not depend on it
  std::filesystem::path cache;     ///< folder of the costs on disk; empty: none
  PlanChoices* choices = nullptr;  ///< gets what the planner chooses for the groups that it plans
  /// What says the cycles of the plan that the planner finds. Planners search by the closed form in any case.
  Evaluator evaluator = {};
  /// Ends a planner's search beyond what the costs are of (Planner::for_costs), of the groups that are chosen.
  std::stop_token over = {};
};

class PlannedGroupCost : public GroupCost {
 public:
  PlannedGroupCost(const Planner& planner, const Target& target, CostOptions options = {})
      : planner_(&planner), target_(&target), options_(std::move(options)) {}
  [[nodiscard]] Answer cost(const Graph& graph, const FusedOperator& group) const override;
  [[nodiscard]] std::vector<Answer> costs(const Graph& graph, std::span<const FusedOperator> groups,
                                          const std::stop_token& stop) const override;
  [[nodiscard]] std::string change_that_allows(const Graph& graph, const FusedOperator& group) const override;
  [[nodiscard]] std::string plan_text(const Graph& graph, const FusedOperator& group) const override;

 private:
  /// Everything but the group that its cost depends on.
  [[nodiscard]] std::string conditions() const;

  const Planner* planner_;
  const Target* target_;
  CostOptions options_;
};

/// Names the code that runs: the linker's build id of the program or library that holds this function; empty where
/// there is none. Costs of another build are not believed.
std::string build_id();

/// All that a planner's choice for a group depends on, but for the group itself.
std::string planning_conditions(const Planner& planner, const Target& target);

}  // namespace stowage
