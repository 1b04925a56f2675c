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
  comparison->change_of_step.assign(current->steps.size(), -1);
  comparison->change_of_baseline_step.assign(baseline->steps.size(), -1);
  for (std::size_t c = 0; c < comparison->diff.groups.size(); ++c) {
    const GroupChange& change = comparison->diff.groups[c];
    for (const GroupSide& side : change.after) comparison->change_of_step[side.step] = static_cast<int>(c);
    for (const GroupSide& side : change.before) comparison->change_of_baseline_step[side.step] = static_cast<int>(c);
  }
  comparison->baseline = std::move(baseline);
  comparison->current = std::move(current);
  return comparison;
}

const GroupChange* PlanComparison::change_of(std::optional<StepId> step) const {
  if (!step || !change_of_step.contains(*step)) return nullptr;
  const int change = change_of_step[*step];
  return change >= 0 ? &diff.groups[static_cast<std::size_t>(change)] : nullptr;
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

std::string_view kind_text(GroupChange::Kind kind) {
  switch (kind) {
    case GroupChange::Kind::same: return "the same";
    case GroupChange::Kind::planned: return "planned otherwise";
    case GroupChange::Kind::regrouped: return "fused otherwise";
    case GroupChange::Kind::only_before: return "gone";
    case GroupChange::Kind::only_after: return "new";
  }
  return "";
}

}  // namespace stowage::inspector
