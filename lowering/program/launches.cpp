// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/launches.h"

#include <algorithm>
#include <utility>

#include "lowering/time/cost_table.h"
#include "lowering/time/time_model.h"

namespace stowage {

Plan launched_by(Plan plan, LaunchedBy launch, const Target& target) {
  plan.schedule.launch = launch;
  plan.nest.launch = launch;
  const std::int64_t before = plan.time.cycles;
  plan.time = estimate_time(plan.nest, plan.counts, target);
  if (plan.certificate) {  // every schedule of its space takes as much more or less
    plan.certificate->cycles += plan.time.cycles - before;
    plan.certificate->least_cycles += plan.time.cycles - before;
  }
  return plan;
}

std::int64_t first_launch_cycles(const Planner& planner, const Target& target) {
  return cycles_of(launch_cost(LaunchedBy::spawn, target)) - cycles_of(launch_cost(planner.launch(target), target));
}

std::optional<StepId> first_kernel(const IdVector<StepId, ProgramStep>& steps) {
  const std::vector<StepId> all = first_kernels(steps);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<StepId> first_kernels(const IdVector<StepId, ProgramStep>& steps) {
  std::vector<StepId> first;
  bool begins = true;
  for (const StepId s : steps.ids()) {
    if (begins && steps[s].plan() != nullptr) first.push_back(s);
    const bool others_work = steps[s].step_plan() != nullptr && !steps[s].kind().is_kernel;
    begins = (begins && steps[s].plan() == nullptr) || others_work;
  }
  return first;
}

std::vector<std::vector<StepId>> spawns_of(const IdVector<StepId, ProgramStep>& steps) {
  std::vector<std::vector<StepId>> spawns;
  const std::vector<StepId> first = first_kernels(steps);
  for (const StepId s : steps.ids()) {
    const Plan* const plan = steps[s].plan();
    if (plan == nullptr) continue;
    const bool is_first = std::binary_search(first.begin(), first.end(), s);
    if (is_first || plan->nest.launch == LaunchedBy::spawn) spawns.emplace_back();
    spawns.back().push_back(s);
  }
  return spawns;
}

}  // namespace stowage
