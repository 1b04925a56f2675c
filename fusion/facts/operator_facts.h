// SPDX-License-Identifier: Apache-2.0
// What matching and legality ask about the operators of a graph, derived once from their definitions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph.h"
#include "core/operators.h"
#include "core/stage.h"

namespace stowage {

/// How an operator reads one of its operands, over all its stages.
enum class OperandUse : std::uint8_t {
  absent,     ///< no operand in this slot, or never read
  own_index,  ///< element i of the output needs exactly element i, in a tensor of the output's shape
  broadcast,  ///< the output's index with dimensions dropped
  other       ///< windows, permutations, reductions …
};

struct OperatorFacts {
  FusionKind kind = FusionKind::opaque;
  bool is_view = false;   ///< only re-indexes, by its definition
  bool in_place = false;  ///< nothing is to be done: the tensors lie so that it is a view (fusion/facts/views.h)
  int stages = 1;
  bool reduces = false;              ///< some stage has a reduction
  std::vector<OperandUse> operands;  ///< by operand slot
  std::size_t position = 0;          ///< place in topological_order(graph)
};

/// The facts of a verified graph's operators, by OpId.
struct GraphFacts {
  explicit GraphFacts(const Graph& of);
  [[nodiscard]] const OperatorFacts& of(OpId op) const { return operators[op.index()]; }

  Graph graph;
  std::vector<OpId> order;  ///< topological
  std::vector<OperatorFacts> operators;
};

/// True if a stage reads a tensor exactly at its own output index (a dimension of extent 1 may be read at 0).
bool reads_own_index(const Stage& stage, const Access& access, const Shape& tensor_shape);

}  // namespace stowage
