// SPDX-License-Identifier: Apache-2.0
#include "core/read_plan.h"

#include <algorithm>

namespace stowage {

std::int64_t ReductionIndex::at(const std::vector<std::int64_t>& axes) const {
  if (!expression_.is_affine()) return evaluate(expression_, [&](VarId axis) { return axes[axis.index()]; });
  std::int64_t sum = expression_.constant();
  for (const IndexTerm& term : expression_.terms()) sum += term.coefficient * axes[term.atom.variable.index()];
  return sum;
}

ReadPlan plan_read(const Access& access, const IdVector<StageTensorId, Tensor>& values, std::size_t spatial_axes) {
  ReadPlan plan;
  plan.access = &access;
  plan.tensor = &values[access.tensor];
  plan.strides = row_major_strides(plan.tensor->shape());
  for (const IndexExpr& e : access.index) {
    IndexExpr spatial = e.constant();
    IndexExpr reduction = 0;
    for (const IndexTerm& term : e.terms()) {
      const IndexExpr part = IndexExpr::of_atom(term.atom) * term.coefficient;
      const auto used = variables_of(part);
      const auto in_reduction = static_cast<std::size_t>(
          std::count_if(used.begin(), used.end(), [&](VarId axis) { return axis.index() >= spatial_axes; }));
      if (!tensor_values_of(part).empty()) plan.depends_on_data = true;
      if (in_reduction != 0 && in_reduction != used.size()) plan.separable = false;
      (in_reduction == 0 ? spatial : reduction) += part;
    }
    plan.spatial.push_back(std::move(spatial));
    plan.reduction.emplace_back(std::move(reduction));
  }
  plan.separable = plan.separable && !plan.depends_on_data;
  plan.index.assign(access.index.size(), IntLane(block_points));
  plan.reach.resize(access.index.size());
  plan.offset.resize(block_points);
  return plan;
}

}  // namespace stowage
