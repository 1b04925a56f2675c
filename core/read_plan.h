// SPDX-License-Identifier: Apache-2.0
// How a stage's read finds its elements, for evaluation in blocks of output elements (core/evaluate.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/evaluate_lanes.h"
#include "core/index_expr.h"
#include "core/stage.h"
#include "core/tensor.h"

namespace stowage {

/// Output elements that are evaluated together.
inline constexpr std::size_t block_points = 256;

/// A sum of axes, or any other index expression; evaluated at one point of the reduction.
class ReductionIndex {
 public:
  explicit ReductionIndex(IndexExpr expression) : expression_(std::move(expression)) {}
  [[nodiscard]] std::int64_t at(const std::vector<std::int64_t>& axes) const;

 private:
  IndexExpr expression_;
};

/// How one read finds its elements. Indices that are a part over spatial axes plus a part over reduction axes have
/// their spatial part evaluated once for a block; others are evaluated as a whole at every point.
struct ReadPlan {
  const Access* access = nullptr;
  const Tensor* tensor = nullptr;
  std::vector<std::int64_t> strides;
  bool separable = true;
  bool depends_on_data = false;
  std::vector<IndexExpr> spatial;         // per dimension, where separable
  std::vector<ReductionIndex> reduction;  // per dimension, where separable
  std::vector<IntLane> index;             // per dimension: the spatial part for the current block
  std::vector<Interval> reach;            // per dimension: smallest and largest value in `index`
  IntLane offset;                         // elements from the start of the tensor, of the spatial parts
};

/// `values` by tensor of the stage's list; its first `spatial_axes` axes are spatial.
ReadPlan plan_read(const Access& access, const IdVector<StageTensorId, Tensor>& values, std::size_t spatial_axes);

}  // namespace stowage
