// SPDX-License-Identifier: Apache-2.0
// The time of a nest for a search that wants to know it only where it is below that of another one.
#pragma once

#include <cstdint>
#include <optional>

#include "lowering/time/time_model.h"

namespace stowage {

/// estimate_time, or nothing where the nest takes `enough` cycles or more whatever is hidden of its transfers: what is
/// hidden exactly takes longer to find than all the rest.
std::optional<TimeEstimate> estimate_below(const LoopNest& nest, const NestCounts& counts, const Target& target,
                                           std::int64_t enough);

}  // namespace stowage
