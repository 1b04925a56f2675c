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
  plan.time = estimate_time(plan.nest, plan.counts, target);
  return plan;
}

std::int64_t first_launch_cycles(const Planner& planner, const Target& target) {
  return cycles_of(launch_cost(LaunchedBy::spawn, target)) - cycles_of(launch_cost(planner.launch(target), target));
}

std::optional<std::size_t> first_kernel(const std::vector<ProgramStep>& steps) {
  const std::vector<std::size_t> all = first_kernels(steps);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<std::size_t> first_kernels(const std::vector<ProgramStep>& steps) {
  std::vector<std::size_t> first;
  bool begins = true;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (begins && steps[s].plan() != nullptr) first.push_back(s);
    begins = (begins && steps[s].plan() == nullptr) || steps[s].on_management_core() != nullptr;
  }
  return first;
}

std::vector<std::vector<std::size_t>> spawns_of(const std::vector<ProgramStep>& steps) {
  std::vector<std::vector<std::size_t>> spawns;
  const std::vector<std::size_t> first = first_kernels(steps);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Plan* const plan = steps[s].plan();
    if (plan == nullptr) continue;
    const bool is_first = std::binary_search(first.begin(), first.end(), s);
    if (is_first || plan->nest.launch == LaunchedBy::spawn) spawns.emplace_back();
    spawns.back().push_back(s);
  }
  return spawns;
}

}  // namespace stowage
