// SPDX-License-Identifier: Apache-2.0
// The fused graph: a partition of a graph's operators into fused operators in execution order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph.h"
#include "core/stage.h"

namespace stowage {

/// Tensors one behind the other along `axis` of a tensor that holds them: results of operators, which lie in the memory
/// of `whole`, or parameters of branches, of which `whole` is a copy. A tensor alone is the whole and its only part.
struct TensorStack {
  TensorId whole;
  std::vector<TensorId> parts;
  std::size_t axis = 0;

  /// True if the whole is another tensor than its parts.
  [[nodiscard]] bool joins() const { return parts != std::vector<TensorId>{whole}; }
  friend bool operator==(const TensorStack&, const TensorStack&) = default;
};

struct FusedOperator {
  std::string name;                ///< unique; the anchor operator's name
  std::string template_name;       ///< the template that allowed it; "single" for an operator alone, "view" for a view
  std::vector<OpId> operators;     ///< in topological order
  std::vector<std::string> roles;  ///< of each operator in the template: "anchor", "epilogue", …
  /// What it stores: the outputs of its last operator; of branches those of each one's last operator, which are one
  /// stack as soon as the group was chosen.
  std::vector<TensorStack> results;
  std::vector<TensorId> inputs;         ///< tensors read from outside, constants included, in order of first use
  std::vector<TensorStack> parameters;  ///< of branches that were chosen
  bool is_view = false;                 ///< an operator alone whose result lies where it is wanted: nothing is launched
};

/// The results of operators that a group stores: the parts of all that it writes.
std::vector<TensorId> results_of(const FusedOperator& group);
/// The tensors that a group writes.
std::vector<TensorId> stored_by(const FusedOperator& group);
/// Outputs of an operator as results of a group, each a tensor alone.
std::vector<TensorStack> results_of_operator(const Operator& op);

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

/// The invariants (a partition, convex, in order, with the results that its operators have); the first broken one in
/// words, or nothing.
std::optional<std::string> verify(const FusedGraph& fused);

std::string to_text(const FusedGraph& fused);

}  // namespace stowage
