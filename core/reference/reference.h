// SPDX-License-Identifier: Apache-2.0
// The reference executor: oneDNN where it has the operator, plain evaluation of the definition elsewhere.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <vector>

#include "core/graph.h"
#include "core/progress.h"

namespace stowage {

enum class ReferenceMode : std::uint8_t {
  onednn,  ///< oneDNN where possible (fast)
  plain    ///< only the definition's stages (independent of oneDNN)
};

/// Value of one operator. `inputs` by operand slot (absent operands: nullopt; the graph's constants may be left out).
std::vector<Tensor> run_operator(const Graph& graph, OpId op, std::span<const std::optional<Tensor>> inputs,
                                 ReferenceMode mode);

/// Runs the network in topological order. `inputs` by graph input, in the network's order. `on_value` is called with
/// every operator's output as it becomes known; values are dropped after their last use. Returns the network's
/// outputs, or nothing once `stop` was requested. May throw IndexOutOfRange (core/evaluate.h).
std::vector<Tensor> run_reference(const Graph& graph, std::span<const Tensor> inputs, ReferenceMode mode,
                                  const std::function<void(TensorId, const Tensor&)>& on_value = {},
                                  std::stop_token stop = {}, const ProgressSink& progress = {});

/// Values of some tensors from known values of others (and the graph's constants): runs the operators in between only.
/// Every network input on the way must be known. May throw IndexOutOfRange.
std::vector<Tensor> compute_from(const Graph& graph, const std::map<TensorId, Tensor>& known,
                                 std::span<const TensorId> wanted, ReferenceMode mode);

}  // namespace stowage
