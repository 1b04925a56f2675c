// SPDX-License-Identifier: Apache-2.0
// What Athread does for one group, whatever comes before and behind it in a program.
#pragma once

#include <stop_token>
#include <string_view>

#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/planner.h"
#include "lowering/program/program_step.h"

namespace stowage {

class PlanChoices;  // lowering/program/plan_choices.h

/// Of a plan that cannot be shown sound.
inline constexpr std::string_view too_large_rule = "plan-too-large";

/// Nothing for a view, else a loop nest; where nothing is fixed (`fixed` is null) also the call of a library that takes
/// less, and, of an operator alone that no plan of the LDM holds, work of the management core. A kernel begins as the
/// planner has it behind another one. `choices` holds what is known of this planner and target already, and gets what
/// is found; it may be null. `over` is as for plan_group().
PlannedStep plan_step(const Graph& graph, const FusedOperator& group, const Schedule* fixed, const Planner& planner,
                      const Target& target, TraceSink trace, PlanChoices* choices, const std::stop_token& over = {});

}  // namespace stowage
