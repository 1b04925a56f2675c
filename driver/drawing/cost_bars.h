// SPDX-License-Identifier: Apache-2.0
// The terms of a time estimate as bars, each with its formula and source, and the bytes that each tensor moves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/backend/simulated_step.h"
#include "driver/drawing/sheet.h"
#include "lowering/program/program.h"

namespace stowage::drawing {

/// What a fused operator is compared with: what is there called the same, and no plan where nothing is.
struct CostBaseline {
  const Plan* plan = nullptr;
};

/// Of what is shown, as the closed form has it and as the simulation has it; empty where that is not known.
using SimulatedTerms = std::vector<SimulatedStep::Term>;

/// One fused operator that has a plan, by its index. With a baseline every bar has that one's as a line across it, and
/// the change behind its number.
Scene cost_bars(const Program& program, StepId step, const std::optional<CostBaseline>& baseline, const Sheet& sheet,
                const SimulatedTerms& terms = {});
/// A whole network: the sums by what time is spent on.
Scene cost_bars(const Program& program, const std::string& network, const Program* baseline, const Sheet& sheet,
                const SimulatedTerms& terms = {});

}  // namespace stowage::drawing
