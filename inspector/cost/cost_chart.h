// SPDX-License-Identifier: Apache-2.0
// Pictures of the time estimate (driver/drawing) of what is open: its terms with their formulas, the bytes moved per
// tensor, the roofline of all groups.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/state/comparison.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

/// Terms of one group with formula and source; of the whole network (step -1) the sums by kind of term. With a
/// comparison every bar has the baseline's as a line across it, and the change behind its number. `simulated`, by step,
/// stands beside the closed form; empty where that is not known yet.
Drawing cost_terms(const LoadedPlan& plan, std::optional<StepId> step, const Look& look, QSizeF room,
                   const PlanComparison* comparison = nullptr, const IdVector<StepId, SimulatedStep>& simulated = {});
Drawing roofline(const LoadedPlan& plan, const Look& look, QSizeF room);

}  // namespace stowage::inspector
