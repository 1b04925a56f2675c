// SPDX-License-Identifier: Apache-2.0
// Which kernels of a program run in one spawn: a kernel that begins behind a barrier runs in that of the kernel before
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/target.h"
#include "lowering/model/planner.h"
#include "lowering/nest/plan.h"
#include "lowering/program/program.h"

namespace stowage {

/// The same plan, whose kernel begins so.
Plan launched_by(Plan plan, LaunchedBy launch, const Target& target);

/// That the first kernel of a program takes longer than its group as the planner plans it: as if another kernel came
/// before it.
std::int64_t first_launch_cycles(const Planner& planner, const Target& target);

/// The steps that Athread launches and before which no kernel can come: of all, and after each that is done otherwise,
/// by the management core or a library.
std::vector<StepId> first_kernels(const IdVector<StepId, ProgramStep>& steps);
/// The first of them.
std::optional<StepId> first_kernel(const IdVector<StepId, ProgramStep>& steps);

/// The steps of the kernels of each spawn, in execution order. Steps that launch nothing, or that another
/// family than Athread plans, are in none.
std::vector<std::vector<StepId>> spawns_of(const IdVector<StepId, ProgramStep>& steps);

}  // namespace stowage
