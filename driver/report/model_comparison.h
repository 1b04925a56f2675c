// SPDX-License-Identifier: Apache-2.0
// The closed form, the simulation and counts of the emulation side by side, with the closed form's errors. What error
// means stands in docs/simulation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/backend/simulated_step.h"
#include "driver/report/table.h"
#include "emitter/sources/program_run.h"
#include "lowering/program/program.h"

namespace stowage {

/// Term by term over all steps; empty if no step has any.
std::vector<SimulatedStep::Term> sum_of_terms(const IdVector<StepId, SimulatedStep>& steps);

/// Of the closed form, as a share of what is simulated: more than 0 where it is too large.
double error_of(std::int64_t closed_form, std::int64_t simulated);

/// Rows: terms, then "all". Columns "term", "closed_form_cycles", "simulated_cycles", "error" (of the term) and
/// "share_error" (of the term, as a share of all simulated cycles).
PlanTable terms_table(const std::vector<SimulatedStep::Term>& terms);

/// Rows: DMA transfers, operations, bytes, the peak of the scratchpad. Columns "count", "predicted", "simulated",
/// "emulated"; the last one is empty where nothing was emulated.
PlanTable counts_table(const Program& program, const IdVector<StepId, SimulatedStep>& steps,
                       const EmulationResult* emulation);

}  // namespace stowage
