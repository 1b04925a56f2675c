// SPDX-License-Identifier: Apache-2.0
// A whole program in time: its launches one behind another, as the simulation has them, and where the time of each
// goes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/drawing/timeline_chart.h"
#include "lowering/program/program.h"
#include "lowering/simulate/simulate.h"

namespace stowage::drawing {

/// Cycles from the start of the program, by step; one more, its end. Steps without a simulation take no time.
std::vector<std::int64_t> step_starts(const IdVector<StepId, std::optional<Simulation>>& steps);

/// Of the view, the cycles count. `chosen`: a step that is marked.
TimelineChart program_timeline(const Program& program, const IdVector<StepId, std::optional<Simulation>>& steps,
                               const TimelineView& view, std::optional<StepId> chosen, const Sheet& sheet);

}  // namespace stowage::drawing
