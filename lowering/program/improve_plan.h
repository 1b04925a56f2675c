// SPDX-License-Identifier: Apache-2.0
// The second half of a planner that begins with what another one finds (Planner::improve): it looks at each form that
// the stages may have for a plan that takes less.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/stage.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/planner.h"
#include "lowering/nest/plan.h"

namespace stowage {

struct ImprovedPlan {
  std::optional<Schedule> schedule;        ///< whole, with its form; nothing where the plan stays
  std::optional<Certificate> certificate;  ///< of the better plan, over all forms
  std::vector<TraceRecord> records;        ///< of that plan's form: the form itself, too, if it is another one
  bool has_other_form = false;             ///< than the plan before
};

/// `before` is the plan that planner.for_costs() has found with what is `fixed`.
ImprovedPlan improve_plan(const std::string& name, const StageList& stages, const Schedule& fixed,
                          const Planner& planner, const Target& target, const Plan& before,
                          const std::stop_token& over);

}  // namespace stowage
