// SPDX-License-Identifier: Apache-2.0
#include "core/operators/reduced.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace stowage::operators {

std::vector<std::size_t> all_axes(std::size_t dimensions) {
  std::vector<std::size_t> axes(dimensions);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

ReducedAxes draft_reduced_axes(StageDraft& stage, const Shape& in, const std::vector<std::size_t>& axes, Keep keep) {
  const auto is_reduced = [&](std::size_t dimension) {
    return std::binary_search(axes.begin(), axes.end(), dimension);
  };
  ReducedAxes result;
  result.source.resize(in.size());
  for (std::size_t dimension = 0; dimension < in.size(); ++dimension) {
    if (!is_reduced(dimension)) {
      result.source[dimension] = stage.axis(fmt::format("i{}", dimension), in[dimension]);
    } else if (keep == Keep::kept) {
      stage.axis(fmt::format("i{}", dimension), 1);
    }
  }
  std::size_t reduced = 0;
  for (std::size_t dimension = 0; dimension < in.size(); ++dimension) {
    if (!is_reduced(dimension)) continue;
    result.source[dimension] = stage.reduction_axis(fmt::format("r{}", reduced++), in[dimension]);
    result.count *= in[dimension];
  }
  return result;
}

std::vector<IndexExpr> without_axes(const std::vector<IndexExpr>& at, const std::vector<std::size_t>& axes) {
  std::vector<IndexExpr> rest;
  for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
    if (!std::binary_search(axes.begin(), axes.end(), dimension)) rest.push_back(at[dimension]);
  }
  return rest;
}

}  // namespace stowage::operators
