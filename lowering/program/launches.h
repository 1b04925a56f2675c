// SPDX-License-Identifier: Apache-2.0
// Which kernels of a program run in one spawn: a kernel that begins behind a barrier runs in that of the kernel before
// it.
#pragma once

#include <cstddef>
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

/// The steps that Athread launches and before which no kernel can come: of all, and after each that the management core
/// computes.
std::vector<std::size_t> first_kernels(const std::vector<ProgramStep>& steps);
/// The first of them.
std::optional<std::size_t> first_kernel(const std::vector<ProgramStep>& steps);

/// Indices into `steps` of the kernels of each spawn, in execution order. Steps that launch nothing, or that another
/// family than Athread plans, are in none.
std::vector<std::vector<std::size_t>> spawns_of(const std::vector<ProgramStep>& steps);

}  // namespace stowage
