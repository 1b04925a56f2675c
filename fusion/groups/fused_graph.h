// SPDX-License-Identifier: Apache-2.0
// The fused graph: a partition of a graph's operators into fused operators in execution order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph.h"
#include "core/stage.h"

namespace stowage {

/// Tensors one behind the other along `axis` of a tensor that holds them: results of branches, which lie in the memory
/// of `whole`, or their parameters, of which `whole` is a copy.
struct TensorStack {
  TensorId whole;
  std::vector<TensorId> parts;
  std::size_t axis = 0;
};

struct FusedOperator {
  std::string name;                 ///< unique; the anchor operator's name
  std::string template_name;        ///< the template that allowed it; "single" for an operator alone, "view" for a view
  std::vector<OpId> operators;      ///< in topological order; the last one produces `output`, save of branches
  std::vector<std::string> roles;   ///< of each operator in the template: "anchor", "epilogue", …
  TensorId output;                  ///< what it stores; of branches that were chosen the stack of their results
  std::vector<TensorId> inputs;     ///< tensors read from outside, constants included, in order of first use
  std::vector<TensorStack> stacks;  ///< of branches that were chosen: of their results and of their parameters
  bool is_view = false;             ///< an operator alone whose result lies where it is wanted: nothing is launched
};

/// The results of operators that a group stores: `output`, or the parts of which it is a stack.
std::vector<TensorId> results_of(const FusedOperator& group);

struct FusedGraph {
  Graph graph;                        ///< after intrinsic fusion (folded parameters)
  std::vector<FusedOperator> groups;  ///< in execution order
};

/// The stages of a group: the definitions of its operators joined, tensors inside the group as intermediates, each
/// boundary tensor with its `source`. Chains of element-wise stages that read an intermediate at its own index are
/// composed into one stage (a conv + bias + relu + add becomes the convolution and one element-wise stage), and view
/// operators inside are resolved into the indices of their readers. Branches, which must be alike, are one operator
/// (fusion/groups/horizontal_fusion.h); as long as they are not chosen their stacks have no source.
StageList group_stages(const Graph& graph, const FusedOperator& group);

/// The invariants (a partition, convex, in order, one output each); the first broken one in words, or nothing.
std::optional<std::string> verify(const FusedGraph& fused);

std::string to_text(const FusedGraph& fused);

}  // namespace stowage
