// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes.
#include "core/operators/reduced.h"

namespace stowage::operators {
namespace {

/// `mean` divides the sum by the number of elements that went into it.
OperatorDefinition reduce(Definer& d, Reduction reduction, bool mean) {
  const StageTensorId x = d.operand(0);
  const Shape in = d.shape(x);
  const auto axes = d.axes("axes", in.size(), all_axes(in.size()));
  const bool keep = int_attribute(d.attributes(), "keepdims", 1) != 0;
  StageDraft stage(d, "reduce");
  const ReducedAxes at = draft_reduced_axes(stage, in, axes, keep ? Keep::kept : Keep::dropped);
  if (reduction == Reduction::maximum && at.count == 0) {
    d.refuse("shape-mismatch", "the largest element of nothing: shape " + to_text(in));
  }
  const ScalarExpr element = stage.read(x, at.source);
  if (axes.empty()) {  // nothing is reduced
    stage.output(element);
    return d.done();
  }
  const ScalarExpr finish =
      mean ? scalar_accumulator(element->type) / number(element->type, static_cast<double>(at.count)) : ScalarExpr{};
  stage.output(reduction, element, finish);
  return d.done();
}

OperatorDefinition reduce_sum(Definer& d) {
  d.require_numbers({d.operand(0)});
  return reduce(d, Reduction::sum, false);
}

OperatorDefinition reduce_mean(Definer& d) {
  d.require_floats({d.operand(0)});
  return reduce(d, Reduction::sum, true);
}

OperatorDefinition reduce_max(Definer& d) {
  d.require_numbers({d.operand(0)});
  return reduce(d, Reduction::maximum, false);
}

}  // namespace

std::vector<OperatorRow> reduction_rows() {
  const std::vector<AttributeRow> attributes = {
      {"axes", "ints", false, "axes to reduce over; absent: all of them; an empty list: none"},
      {"keepdims", "int", false, "1: reduced dimensions stay with extent 1 (default); 0: they are dropped"}};
  std::vector<OperatorRow> rows = {
      {"ReduceMax", "largest element over axes", {"X"}, 1, attributes, guarded<reduce_max>},
      {"ReduceMean", "mean over axes", {"X"}, 1, attributes, guarded<reduce_mean>},
      {"ReduceSum", "sum over axes", {"X"}, 1, attributes, guarded<reduce_sum>}};
  for (OperatorRow& row : rows) row.reduces_over = ReducesOver::axes;
  return rows;
}

}  // namespace stowage::operators
