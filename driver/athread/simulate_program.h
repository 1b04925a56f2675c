// SPDX-License-Identifier: Apache-2.0
// The simulation of a plan's nest (lowering/simulate) as the step of a program.
#pragma once

#include "driver/backend/simulated_step.h"
#include "lowering/nest/plan.h"
#include "lowering/simulate/simulate.h"

namespace stowage {

SimulatedStep simulated_step(const Plan& plan, const Target& target, const Simulation& simulation);

}  // namespace stowage
