// SPDX-License-Identifier: Apache-2.0
// Plain evaluation of an operator's definition, point by point: the slow, obvious oracle.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "core/stage.h"

namespace stowage {

/// An integer tensor's value (of Gather's indices) points outside the tensor that it indexes: the input data is wrong.
class IndexOutOfRange : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

/// Evaluates all stages; `inputs` are the values of the tensors with role input, in order of appearance.
/// Returns the values of every tensor of the list (inputs and constants included).
/// Floats are computed in double and rounded once, when an element of a tensor is stored; integers are computed in 64
/// bits and wrap to their type. Integer division by zero gives 0. Throws IndexOutOfRange.
IdVector<StageTensorId, Tensor> evaluate(const StageList& list, std::span<const Tensor> inputs);

}  // namespace stowage
