// SPDX-License-Identifier: Apache-2.0
// Faults of a nest as a whole, whatever its cores come to.
#pragma once

#include <vector>

#include "lowering/check/check_nest.h"
#include "lowering/check/tensor_writers.h"

namespace stowage {

/// Buffers that reach beyond the target's LDM, or begin where none may; cores and rows of them that it has not.
std::vector<Fault> capacity_faults(const LoopNest& nest, const Target& target);
/// Statements that use a variable outside of its loop, or before it is set.
std::vector<Fault> scope_faults(const LoopNest& nest);
/// Outputs of which no core has written an element.
std::vector<Fault> incomplete_faults(const LoopNest& nest, const TensorWriters& writers);

}  // namespace stowage
