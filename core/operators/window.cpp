// SPDX-License-Identifier: Apache-2.0
#include "core/operators/window.h"

#include <algorithm>

#include <fmt/format.h>

namespace stowage::operators {
namespace {

/// Larger windows are mistakes, and products of them could overflow.
constexpr std::int64_t largest_window_number = std::int64_t{1} << 31;

std::vector<std::int64_t> window_numbers(const Definer& d, const std::string& name, std::size_t count,
                                         std::int64_t lowest, std::int64_t fallback) {
  auto numbers = ints_attribute(d.attributes(), name, std::vector<std::int64_t>(count, fallback));
  if (numbers.size() != count) {
    d.refuse("bad-attribute", fmt::format("attribute {} has {} numbers, {} were wanted", name, numbers.size(), count),
             name == "pads" ? "give a begin for each spatial dimension, then an end for each"
                            : "give one number for each spatial dimension");
  }
  for (const std::int64_t number : numbers) {
    if (number < lowest || number > largest_window_number) {
      d.refuse("bad-attribute", fmt::format("attribute {} has a {}, at least {} was wanted", name, number, lowest),
               fmt::format("give numbers from {} to {}", lowest, largest_window_number));
    }
  }
  return numbers;
}

}  // namespace

std::vector<Window> window_attributes(const Definer& d, const Shape& in, const Shape& kernel) {
  const std::size_t dimensions = in.size();
  const auto kernel_shape =
      d.has_attribute("kernel_shape") ? window_numbers(d, "kernel_shape", dimensions, 1, 1) : kernel;
  if (kernel_shape != kernel) {
    d.refuse("shape-mismatch",
             fmt::format("attribute kernel_shape is {}, the weights have {}", to_text(kernel_shape), to_text(kernel)));
  }
  const auto strides = window_numbers(d, "strides", dimensions, 1, 1);
  const auto dilations = window_numbers(d, "dilations", dimensions, 1, 1);
  const auto pads = window_numbers(d, "pads", 2 * dimensions, 0, 0);
  std::vector<Window> windows(dimensions);
  for (std::size_t k = 0; k < dimensions; ++k) {
    if (kernel[k] < 1 || kernel[k] > largest_window_number) {
      d.refuse("shape-mismatch", fmt::format("a window of shape {}", to_text(kernel)));
    }
    windows[k] = {in[k], kernel[k], strides[k], dilations[k], pads[k], pads[dimensions + k], 0};
  }
  return windows;
}

std::vector<Window> forward_windows(const Definer& d, const Shape& in, const Shape& kernel, bool ceil_mode) {
  auto windows = window_attributes(d, in, kernel);
  const std::string auto_pad = string_attribute(d.attributes(), "auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID") {
    d.refuse("bad-attribute", fmt::format("attribute auto_pad is {}", auto_pad),
             "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  for (Window& w : windows) {
    if (same) {
      w.out = ceil_div(w.in, w.stride);
      const std::int64_t total = std::max<std::int64_t>(0, (w.out - 1) * w.stride + w.reach() - w.in);
      w.pad_begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.pad_end = total - w.pad_begin;
      continue;
    }
    if (auto_pad == "VALID") w.pad_begin = w.pad_end = 0;
    const std::int64_t room = w.in + w.pad_begin + w.pad_end - w.reach();
    if (room < 0) {
      d.refuse("shape-mismatch", fmt::format("a window of {} does not fit into {} elements with padding {} and {}",
                                             w.reach(), w.in, w.pad_begin, w.pad_end));
    }
    w.out = (ceil_mode ? ceil_div(room, w.stride) : room / w.stride) + 1;
    // A last window that would start behind the input and its leading padding covers nothing.
    if (ceil_mode && (w.out - 1) * w.stride >= w.in + w.pad_begin) --w.out;
  }
  return windows;
}

std::string spatial_axis_name(std::size_t dimension, std::size_t dimensions) {
  static constexpr const char* names[] = {"dd", "yy", "xx"};
  return names[3 - dimensions + dimension];
}

std::vector<IndexExpr> spatial_axes(StageDraft& stage, const std::vector<Window>& windows) {
  std::vector<IndexExpr> axes;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    axes.push_back(stage.axis(spatial_axis_name(k, windows.size()), windows[k].out));
  }
  return axes;
}

std::string window_axis_name(std::size_t dimension, std::size_t dimensions) {
  static constexpr const char* names[] = {"rd", "ry", "rx"};
  return names[3 - dimensions + dimension];
}

std::vector<AttributeRow> window_attribute_rows(bool kernel_required) {
  return {{"auto_pad", "string", false, "NOTSET (default), VALID, SAME_UPPER or SAME_LOWER"},
          {"dilations", "ints", false, "distance of taps per spatial dimension, default 1"},
          {"kernel_shape", "ints", kernel_required, "taps per spatial dimension"},
          {"pads", "ints", false, "padding before every spatial dimension, then behind; default 0"},
          {"strides", "ints", false, "step per spatial dimension, default 1"}};
}

}  // namespace stowage::operators
