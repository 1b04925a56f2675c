// SPDX-License-Identifier: Apache-2.0
// The fused graph: a partition of a graph's operators into fused operators in execution order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph.h"
#include "core/stage.h"

namespace stowage {

struct FusedOperator {
  std::string name;                ///< unique; the anchor operator's name
  std::string template_name;       ///< the template that allowed it; "single" for an operator alone, "view" for a view
  std::vector<OpId> operators;     ///< in topological order; the last one produces `output`
  std::vector<std::string> roles;  ///< of each operator in the template: "anchor", "epilogue", …
  TensorId output;
  std::vector<TensorId> inputs;  ///< tensors read from outside, constants included, in order of first use
};

struct FusedGraph {
  Graph graph;                        ///< after intrinsic fusion (folded parameters)
  std::vector<FusedOperator> groups;  ///< in execution order
};

/// The stages of a group: the definitions of its operators joined, tensors inside the group as intermediates, each
/// boundary tensor with its `source`. Chains of element-wise stages that read an intermediate at its own index are
/// composed into one stage (a conv + bias + relu + add becomes the convolution and one element-wise stage), and view
/// operators inside are resolved into the indices of their readers.
StageList group_stages(const Graph& graph, const FusedOperator& group);

/// The invariants (a partition, convex, in order, one output each); the first broken one in words, or nothing.
std::optional<std::string> verify(const FusedGraph& fused);

std::string to_text(const FusedGraph& fused);

}  // namespace stowage
