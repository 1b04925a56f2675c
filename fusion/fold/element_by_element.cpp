// SPDX-License-Identifier: Apache-2.0
#include "fusion/fold/element_by_element.h"

#include <algorithm>

#include "core/operators.h"

namespace stowage {

bool is_element_by_element(const Graph& graph, OpId id) {
  const Operator& op = graph.op(id);
  if (op.outputs.size() != 1) return false;
  const OperatorRow* row = find_operator_row(op.kind);
  check(row != nullptr, "an operator without a row");
  const auto names_dimensions = [](const AttributeRow& attribute) {
    return attribute.type == "int" || attribute.type == "ints";
  };
  if (std::any_of(row->attributes.begin(), row->attributes.end(), names_dimensions)) return false;
  const OperatorDefinition definition = define_operator(graph, id);
  if (definition.is_view || definition.list.stages.size() != 1) return false;
  const Stage& stage = definition.list.stages.front();
  if (stage.reduction != Reduction::none || stage.reads.empty()) return false;
  return std::all_of(stage.reads.begin(), stage.reads.end(), [&](const Access& read) {
    const Shape& shape = definition.list.tensors[read.tensor].shape;
    const std::size_t rank = stage.spatial;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const bool own = shape.size() <= rank && read.index[k].is_variable(VarId(rank - shape.size() + k));
      if (!own && (shape[k] != 1 || !(read.index[k] == IndexExpr(0)))) return false;
    }
    return !read.padding;
  });
}

}  // namespace stowage
