// SPDX-License-Identifier: Apache-2.0
// Why these operators are one: the candidates that hold any of them, and the way of the strategy through them.
#pragma once

#include <vector>

#include "inspector/replay/replay.h"

namespace stowage::inspector {

std::vector<ReplayStep> fusion_steps(const LoadedPlan& plan, std::optional<StepId> step);

}  // namespace stowage::inspector
