// SPDX-License-Identifier: Apache-2.0
#include "fusion/groups/branch_stacks.h"

#include <algorithm>

#include "core/operators.h"

namespace stowage {
namespace {

/// The concatenation at whose beginning or end most of a family's results are.
struct Border {
  OpId join;
  bool at_end = false;
  std::size_t results = 0;  ///< so many of them
};

bool joins_along(const Graph& graph, OpId join, std::size_t axis) {
  const auto rank = static_cast<std::int64_t>(graph.tensor(graph.op(join).first_output()).shape.size());
  const std::int64_t given = int_attribute(graph.op(join).attributes, "axis", 0);
  return static_cast<std::size_t>(given < 0 ? given + rank : given) == axis;
}

std::vector<TensorId> results_of(const Graph& graph, const BranchFamily& family) {
  std::vector<TensorId> results;
  for (const Branch& branch : family.branches) results.push_back(graph.op(branch.back()).first_output());
  return results;
}

/// How many operands from one end of a concatenation are results of the family.
std::size_t results_at_border(const Graph& graph, OpId join, const std::vector<TensorId>& results, bool at_end) {
  std::vector<TensorId> operands;
  for (const auto& operand : graph.op(join).inputs) {
    if (operand && element_count(graph.tensor(*operand).shape) > 0) operands.push_back(*operand);
  }
  if (at_end) std::reverse(operands.begin(), operands.end());
  const auto other = std::find_if(operands.begin(), operands.end(), [&](TensorId operand) {
    return std::find(results.begin(), results.end(), operand) == results.end();
  });
  return static_cast<std::size_t>(other - operands.begin());
}

std::optional<Border> border_of(const Graph& graph, const BranchFamily& family, const Boxes& boxes,
                                const std::vector<bool>& joins) {
  const std::vector<TensorId> results = results_of(graph, family);
  std::optional<Border> best;
  for (const TensorId result : results) {
    for (const OpId reader : graph.tensor(result).consumers) {
      // A concatenation inside another one's box has neighbours already.
      if (!joins[reader.index()] || boxes.contains(graph.op(reader).first_output())) continue;
      if (!joins_along(graph, reader, family.axis)) continue;
      for (const bool at_end : {false, true}) {
        const Border border{reader, at_end, results_at_border(graph, reader, results, at_end)};
        if (border.results > (best ? best->results : 0)) best = border;
      }
    }
  }
  return best;
}

}  // namespace

std::optional<BranchStack> stack_of_results(const Graph& graph, const BranchFamily& family, const Boxes& boxes,
                                            const std::vector<bool>& joins) {
  const std::optional<Border> border = border_of(graph, family, boxes, joins);
  BranchStack stack{{}, family.axis, std::nullopt};
  for (const TensorId result : results_of(graph, family)) {
    if (!boxes.contains(result)) stack.tensors.push_back(result);
  }
  if (stack.tensors.size() < (border ? 1 : 2)) return std::nullopt;
  if (!border) return stack;
  const TensorId joined = graph.op(border->join).first_output();
  stack.tensors.insert(border->at_end ? stack.tensors.begin() : stack.tensors.end(), joined);
  stack.join = border->join;
  return stack;
}

}  // namespace stowage
