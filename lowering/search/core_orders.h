// SPDX-License-Identifier: Apache-2.0
// In which order the parts of a split are counted by the cores' numbers, which decides who can load together.
#pragma once

#include <vector>

#include "core/target.h"
#include "lowering/model/group_model.h"
#include "lowering/search/core_grids.h"

namespace stowage {

/// The parts counted in this order, and in others that let cores load together what they cannot in those before;
/// without bounds. On a target on which every core loads for itself, this order alone.
std::vector<CoreGrid> orders_of(const GroupModel& model, const std::vector<ParallelSplit>& parallel,
                                const Target& target);

}  // namespace stowage
