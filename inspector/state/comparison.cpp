// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/comparison.h"

#include "driver/diff/model_error.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

ComparisonPtr compare_plans(PlanPtr baseline, PlanPtr current, const std::stop_token& stop) {
  off_window_thread("plans were compared");
  auto comparison = std::make_shared<PlanComparison>();
  comparison->diff = diff_compilations(baseline->compilation, current->compilation);
  add_simulated(comparison->diff, baseline->compilation, current->compilation, stop);
  comparison->change_of_step.assign(current->steps.size(), std::nullopt);
  comparison->change_of_baseline_step.assign(baseline->steps.size(), std::nullopt);
  for (std::size_t c = 0; c < comparison->diff.groups.size(); ++c) {
    const GroupChange& change = comparison->diff.groups[c];
    for (const GroupSide& side : change.after) comparison->change_of_step[side.step] = c;
    for (const GroupSide& side : change.before) comparison->change_of_baseline_step[side.step] = c;
  }
  comparison->baseline = std::move(baseline);
  comparison->current = std::move(current);
  return comparison;
}

const GroupChange* PlanComparison::change_of(std::optional<StepId> step) const {
  if (!step || !change_of_step.contains(*step)) return nullptr;
  const std::optional<std::size_t> change = change_of_step[*step];
  return change ? &diff.groups[*change] : nullptr;
}

bool PlanComparison::leads(std::optional<StepId> step) const {
  const GroupChange* change = change_of(step);
  return change != nullptr && change->after.front().step == step;
}

std::optional<StepId> PlanComparison::baseline_step(std::optional<StepId> step) const {
  const GroupChange* change = change_of(step);
  if (change == nullptr || change->before.size() != 1 || change->after.size() != 1) return std::nullopt;
  return change->before.front().step;
}

}  // namespace stowage::inspector
