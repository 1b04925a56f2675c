// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/planned_group.h"

#include <algorithm>

#include <fmt/format.h>

#include "driver/athread/athread_schedule.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

PlannedStep plan_group_of(const LoadedPlan& plan, const FusedOperator& group, const Schedule* fixed,
                          const Target& target, TraceSink trace) {
  off_window_thread("a group was planned");
  const Backend& backend = backend_of(plan.compilation);
  const std::string& planner = plan.program().planner;
  const std::vector<std::string> known = backend.planner_names();
  if (std::find(known.begin(), known.end(), planner) == known.end())
    return Decision::refuse("unknown-planner", fmt::format("there is no planner '{}' here", planner));
  const auto as_given = fixed != nullptr ? fixed_schedule(*fixed) : nullptr;
  return backend.plan_group(plan.graph(), group, as_given.get(), planner, target, {}, trace);
}

}  // namespace stowage::inspector
