// SPDX-License-Identifier: Apache-2.0
// Plain evaluation of an operator's definition, point by point: the slow, obvious oracle.
#pragma once

#include <span>
#include <vector>

#include "core/stage.h"

namespace stowage {

/// Evaluates all stages; `inputs` are the values of the tensors with role input, in order of appearance.
/// Returns the values of every tensor of the list (inputs and constants included).
/// Reductions accumulate in double for floats (64-bit integers for integers) and round once at the end.
std::vector<Tensor> evaluate(const StageList& list, std::span<const Tensor> inputs);

}  // namespace stowage
