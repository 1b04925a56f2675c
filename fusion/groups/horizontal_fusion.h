// SPDX-License-Identifier: Apache-2.0
// Horizontal fusion: branches that read one tensor and compute the same with parameters of their own (the 1x1
// convolutions of an inception module, the products for query, key and value), each perhaps with element-wise operators
// behind it.
//
// As one group they are one operator whose parameters are theirs put one behind the other along the dimension that
// belongs to parameters alone (output channels, columns), and whose result is theirs side by side. Where the results
// lie is decided before any search (place_tensors); parameters are put together for the groups that were chosen.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/graph.h"
#include "core/stage.h"
#include "fusion/groups/fused_graph.h"

namespace stowage {

/// The operators of one branch, in topological order; the last one's output is its result.
using Branch = std::vector<OpId>;

/// True if the group fuses branches side by side: it has a member in the role `branch`.
bool is_horizontal(const FusedOperator& group);
/// The branches of such a group, in the order in which their results lie in memory.
std::vector<Branch> branches_of(const Graph& graph, const FusedOperator& group);

/// What a group stores that has not been chosen yet, each tensor alone: the outputs of its last operator, of branches
/// side by side those of each one's last operator.
std::vector<TensorStack> results_of_branches(const Graph& graph, const FusedOperator& group);

/// What is wrong with the stacks of a group that was chosen, in words, or nothing: they are those that with_stacks
/// gives it, and a group of other operators has none. The group's operators are in the graph, in order, with a role
/// each.
std::optional<std::string> broken_stacks(const Graph& graph, const FusedOperator& group);

/// What one branch computes; tensors have their sources.
StageList branch_stages(const Graph& graph, const Branch& branch);

/// Lists of branches as one.
struct StackedStages {
  StageList list;  ///< of the first, with sums of extents; what is stacked has neither source nor value
  struct Part {
    std::size_t axis = 0;           ///< dimension along which the branches' tensors lie one behind the other
    std::vector<TensorId> tensors;  ///< of each branch
  };
  IdVector<StageTensorId, std::optional<Part>> parts;  ///< nothing: shared, or inside an operator
  [[nodiscard]] const Part& result() const;            ///< of the output
};

/// Or why they are not alike: rule `branches-alike` or `branches-parameters`. `of` names the branches in sentences.
std::variant<StackedStages, Decision> stack_stages(const Graph& graph, std::span<const StageList> lists,
                                                   std::span<const Branch> of);

/// Branches that could be one operator: all that there are of their kind, two at least, in the order of their
/// operators.
struct BranchFamily {
  std::vector<Branch> branches;
  std::size_t axis = 0;  ///< dimension of the results along which they would be stacked
};
/// Of every tensor that several convolutions or products read: those that are alike, and of these again those that are
/// so with one more element-wise operator behind each, and so on; the longest branches first. The graph need not be
/// placed.
std::vector<BranchFamily> find_branch_families(const Graph& graph);

/// Gives every group of branches its stacks: its results become one, with a storage of its own, and their parameters
/// are put together as new constants.
FusedGraph with_stacks(FusedGraph fused);

}  // namespace stowage
