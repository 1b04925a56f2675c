// SPDX-License-Identifier: Apache-2.0
// Faults of a nest as a whole, which show at no statement.
#pragma once

#include <vector>

#include "lowering/check/check_nest.h"
#include "lowering/check/tensor_writers.h"

namespace stowage {

/// Buffers that reach beyond the target's LDM, or begin where none may.
std::vector<Fault> capacity_faults(const LoopNest& nest, const Target& target);
/// Outputs of which no core has written an element.
std::vector<Fault> incomplete_faults(const LoopNest& nest, const TensorWriters& writers);

}  // namespace stowage
