// SPDX-License-Identifier: Apache-2.0
// The sliding window that convolutions and pools share: one Window per spatial dimension, from the attributes
// kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, as the ONNX documentation defines them.
#pragma once

#include <string>
#include <vector>

#include "core/operators/define.h"

namespace stowage::operators {

struct Window {
  std::int64_t in = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t out = 0;

  [[nodiscard]] std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
  /// First input coordinate of the window at output coordinate `at`.
  [[nodiscard]] IndexExpr start(const IndexExpr& at) const { return at * stride - pad_begin; }
  /// Whether some window reaches outside the input.
  [[nodiscard]] bool clips() const { return pad_begin > 0 || (out - 1) * stride - pad_begin + reach() > in; }
};

/// The attributes of a window with everything but `out`; pads of auto_pad are not resolved yet.
std::vector<Window> window_attributes(const Definer& d, const Shape& in, const Shape& kernel);
/// Resolves auto_pad and computes `out`.
std::vector<Window> forward_windows(const Definer& d, const Shape& in, const Shape& kernel, bool ceil_mode);

/// TVM's names, as swTVM figure 3 uses them: xx / yy, xx / dd, yy, xx; and rx / ry, rx / rd, ry, rx.
std::string spatial_axis_name(std::size_t dimension, std::size_t dimensions);
std::string window_axis_name(std::size_t dimension, std::size_t dimensions);
/// A spatial axis of the stage for each window: its place in the result.
std::vector<IndexExpr> spatial_axes(StageDraft& stage, const std::vector<Window>& windows);

/// The attribute rows of every window.
std::vector<AttributeRow> window_attribute_rows(bool kernel_required);

}  // namespace stowage::operators
