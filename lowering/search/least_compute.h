// SPDX-License-Identifier: Apache-2.0
// What a core takes at least for its points of a stage, in whatever form their loops are emitted.
#pragma once

#include <cstdint>

#include "core/stage.h"
#include "core/target.h"

namespace stowage {

/// Cycles for so many points of a stage's result, whole reductions included, where no lane is longer than `most_lanes`
/// elements. `ends_sum`: it is computed in place of another stage's result, whose registers may have it still.
double least_compute_cycles(const Stage& stage, std::int64_t points, std::int64_t most_lanes, bool ends_sum,
                            const Target& target);

}  // namespace stowage
