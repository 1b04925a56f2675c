// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lowering/model/planner.h"
#include "lowering/search/branch_and_bound.h"

namespace stowage {

/// The planner that says how good its plans are: from the plan of planner searched on it looks through a stated space
/// (docs/optimal.md) by branch and bound, and returns the best plan of it with the proof that none is better, or the
/// best that was found with what is left to prove. What a person has fixed stays.
class OptimalPlanner : public Planner {
 public:
  explicit OptimalPlanner(SearchLimits limits = {}) : limits_(limits) {}
  [[nodiscard]] std::string_view name() const override { return "optimal"; }
  [[nodiscard]] bool chooses_forms() const override { return true; }
  [[nodiscard]] LaunchedBy launch(const Target& target) const override;
  /// Planner searched: strategies ask for hundreds of groups, of which few are chosen, and an optimum is at most what
  /// that finds.
  [[nodiscard]] const Planner& for_costs() const override;
  /// As planner searched does it: what this one finds beyond, plan_group() and choose_plan() ask for.
  [[nodiscard]] Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const override;
  [[nodiscard]] Chosen improve(const std::string& subject, const StageList& stages, const Schedule& fixed,
                               const Target& target, TraceSink trace, const Schedule* begin, std::int64_t to_beat,
                               const std::stop_token& over) const override;
  [[nodiscard]] Scheduled complete_chosen(const std::string& subject, const StageList& stages, const Schedule& chosen,
                                          const Target& target, TraceSink trace) const override;

 private:
  SearchLimits limits_;
};

}  // namespace stowage
