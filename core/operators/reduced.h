// SPDX-License-Identifier: Apache-2.0
// Axes of a stage that reduces over some dimensions of a tensor; reductions and normalisations share it.
#pragma once

#include <vector>

#include "core/operators/define.h"

namespace stowage::operators {

enum class Keep { kept, dropped };  ///< what becomes of a reduced dimension in the result: extent 1, or nothing

struct ReducedAxes {
  std::vector<IndexExpr> source;  ///< where the reduced tensor is read
  std::int64_t count = 1;         ///< elements that are reduced into one
};

std::vector<std::size_t> all_axes(std::size_t dimensions);

/// Adds spatial axes i0, i1 … (numbered by the dimension they belong to) and reduction axes r0, r1 … to `stage`.
ReducedAxes draft_reduced_axes(StageDraft& stage, const Shape& in, const std::vector<std::size_t>& axes, Keep keep);

/// Elements of `at` (indices of the whole tensor) that lead to an element of a reduced tensor with dropped dimensions.
std::vector<IndexExpr> without_axes(const std::vector<IndexExpr>& at, const std::vector<std::size_t>& axes);

}  // namespace stowage::operators
