// SPDX-License-Identifier: Apache-2.0
#include "inspector/cost/cost_chart.h"

#include "driver/drawing/cost_bars.h"
#include "driver/drawing/roofline.h"
#include "driver/report/model_comparison.h"
#include "inspector/draw/scene_drawing.h"

namespace stowage::inspector {

Drawing cost_terms(const LoadedPlan& plan, std::optional<StepId> index, const Look& look, QSizeF room,
                   const PlanComparison* comparison, const IdVector<StepId, SimulatedStep>& simulated) {
  const drawing::Sheet sheet = sheet_of(look, room);
  const LoadedPlan* const baseline = comparison != nullptr ? comparison->baseline.get() : nullptr;
  const StepFacts* const step = plan.step(index);
  if (step == nullptr || step->plan == nullptr) {
    const Program* const before = baseline != nullptr ? &baseline->program() : nullptr;
    return drawn(drawing::cost_bars(plan.program(), plan.compilation.network, before, sheet, sum_of_terms(simulated)),
                 look);
  }
  std::optional<drawing::CostBaseline> compared;
  if (baseline != nullptr) {
    const StepFacts* const before = baseline->step(comparison->baseline_step(index));
    compared = drawing::CostBaseline{before != nullptr ? before->plan : nullptr};
  }
  const StepId shown = *index;
  const drawing::SimulatedTerms terms = simulated.contains(shown) ? simulated[shown].terms : drawing::SimulatedTerms();
  return drawn(drawing::cost_bars(plan.program(), shown, compared, sheet, terms), look);
}

Drawing roofline(const LoadedPlan& plan, const Look& look, QSizeF room) {
  return drawn(drawing::roofline(plan.program(), drawing::roofline_points(plan.program()), sheet_of(look, room)), look);
}

}  // namespace stowage::inspector
