// SPDX-License-Identifier: Apache-2.0
// What a nest computes, by running it.
#pragma once

#include <map>

#include "core/tensor.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Runs a nest point by point; `inputs` by StageList tensor index. Returns every tensor of the list that was written,
/// intermediates assembled from LDM included (elements never computed are NaN or 0).
std::map<StageTensorId, Tensor> interpret(const LoopNest& nest, const std::map<StageTensorId, Tensor>& inputs);

}  // namespace stowage
