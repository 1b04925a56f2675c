// SPDX-License-Identifier: Apache-2.0
// Convolutions, products, pools and normalisations: auto_pad becomes pads, older forms become the newest, and what
// belongs to training is refused.
#include <fmt/format.h>

#include <algorithm>

#include "core/onnx/import_rows.h"
#include "core/onnx/node_import.h"

namespace stowage::onnx_import {
namespace {

using Ints = std::vector<std::int64_t>;

/// A sliding window over the spatial axes of [N, C, …]; every list has one entry an axis, pads two.
struct Window {
  std::size_t axes = 0;
  Ints extents, kernel, strides, dilations, pads;

  [[nodiscard]] std::int64_t reach(std::size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
};

/// Large enough for every network, small enough that no product of two overflows.
constexpr std::int64_t largest_step = std::int64_t{1} << 28;

Ints window_list(NodeImport& node, std::string_view name, std::size_t length, std::int64_t fallback,
                 std::int64_t least) {
  Ints list = node.ints_attribute(name);
  if (list.empty()) list.assign(length, fallback);
  if (list.size() != length) {
    node.refuse("shape-mismatch", fmt::format("its attribute '{}' has {} entries, not {}", name, list.size(), length),
                name == "pads" ? "give a begin for each spatial dimension, then an end for each"
                               : "give one entry for each spatial dimension");
  }
  for (const auto entry : list) {
    if (entry < least || entry > largest_step) {
      node.refuse("invalid-attribute",
                  fmt::format("its attribute '{}' is {}, but {} is {}", name, to_text(list), entry,
                              entry < least ? "too small" : "too large"),
                  fmt::format("give entries from {} to {}", least, largest_step));
    }
  }
  return list;
}

/// Pads that make ceil(extent / stride) positions of the window; the odd one goes to the end for SAME_UPPER.
void pad_same(Window& window, bool upper) {
  for (std::size_t d = 0; d < window.axes; ++d) {
    const std::int64_t positions = (window.extents[d] + window.strides[d] - 1) / window.strides[d];
    const std::int64_t total =
        std::max<std::int64_t>(0, (positions - 1) * window.strides[d] + window.reach(d) - window.extents[d]);
    window.pads[d] = upper ? total / 2 : total - total / 2;
    window.pads[d + window.axes] = total - window.pads[d];
  }
}

/// Reads the window attributes. `kernel` is what the weights say, or empty where the attribute must.
Window read_window(NodeImport& node, const Shape& data, const Ints& kernel) {
  if (data.size() < 3) {
    node.refuse("shape-mismatch",
                fmt::format("wants a tensor [N,C,...] of at least 3 dimensions, not {}", to_text(data)));
  }
  Window window;
  window.axes = data.size() - 2;
  window.extents.assign(data.begin() + 2, data.end());
  for (const auto extent : window.extents) {
    if (extent > largest_step)
      node.refuse("tensor-too-large",
                  fmt::format("its operand {} has an extent beyond {}", to_text(data), largest_step));
  }
  if (kernel.empty() && !node.attribute("kernel_shape"))
    node.refuse("missing-attribute", "lacks the attribute 'kernel_shape'",
                "give the window's extent in each spatial dimension");
  window.kernel = window_list(node, "kernel_shape", window.axes, 1, 1);
  if (!node.attribute("kernel_shape")) window.kernel = kernel;
  if (!kernel.empty() && window.kernel != kernel) {
    node.refuse("shape-mismatch",
                fmt::format("kernel_shape is {}, but its weights have {}", to_text(window.kernel), to_text(kernel)));
  }
  window.strides = window_list(node, "strides", window.axes, 1, 1);
  window.dilations = window_list(node, "dilations", window.axes, 1, 1);
  window.pads = window_list(node, "pads", 2 * window.axes, 0, -largest_step);
  return window;
}

std::string checked_auto_pad(NodeImport& node) {
  std::string mode = node.string_attribute("auto_pad", "NOTSET");
  if (mode.empty()) mode = "NOTSET";
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    node.refuse("invalid-attribute", fmt::format("its attribute 'auto_pad' is '{}', which there is not", mode),
                "give NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  return mode;
}

/// The window of a convolution or pool with auto_pad resolved.
Window resolved_window(NodeImport& node, const Shape& data, const Ints& kernel) {
  Window window = read_window(node, data, kernel);
  const std::string mode = checked_auto_pad(node);
  if (mode == "VALID") window.pads.assign(2 * window.axes, 0);
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") pad_same(window, mode == "SAME_UPPER");
  return window;
}

Attributes window_attributes(const Window& window) {
  return {{"dilations", window.dilations},
          {"kernel_shape", window.kernel},
          {"pads", window.pads},
          {"strides", window.strides}};
}

/// The kernel's spatial extents, checked to fit the data's rank.
Ints kernel_of(NodeImport& node) {
  const Shape& weights = node.operand(1)->shape;
  const Shape& data = node.operand(0)->shape;
  if (weights.size() != data.size() || weights.size() < 3) {
    node.refuse("shape-mismatch", fmt::format("weights {} do not fit data {}", to_text(weights), to_text(data)),
                "give data [N,C,spatial...] and weights of as many dimensions, at least 3");
  }
  return {weights.begin() + 2, weights.end()};
}

/// True if the operator was exported in training form: old opsets by outputs that only training makes.
void refuse_training(NodeImport& node, bool training) {
  if (training) node.refuse("training-mode", "is in training mode", "export the network for inference");
}

}  // namespace

void import_conv(NodeImport& node) {
  const Window window = resolved_window(node, node.operand(0)->shape, kernel_of(node));
  Attributes attributes = window_attributes(window);
  attributes["group"] = node.int_attribute("group", 1);
  node.emit("Conv", std::move(attributes), node.operands());
}

void import_conv_transpose(NodeImport& node) {
  Window window = read_window(node, node.operand(0)->shape, kernel_of(node));
  const std::string mode = checked_auto_pad(node);
  Ints output_padding = window_list(node, "output_padding", window.axes, 0, 0);
  Ints wanted = node.ints_attribute("output_shape");
  if (wanted.size() == window.axes + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);  // some exporters name N and C too
  if (wanted.empty() && mode != "NOTSET" && mode != "VALID") {
    for (std::size_t d = 0; d < window.axes; ++d) wanted.push_back(window.extents[d] * window.strides[d]);
  }
  if (mode == "VALID") window.pads.assign(2 * window.axes, 0);
  if (!wanted.empty()) {
    if (wanted.size() != window.axes) {
      node.refuse("shape-mismatch", fmt::format("output_shape {} does not fit data {}", to_text(wanted),
                                                to_text(node.operand(0)->shape)));
    }
    for (std::size_t d = 0; d < window.axes; ++d) {
      const std::int64_t full = window.strides[d] * (window.extents[d] - 1) + output_padding[d] + window.reach(d);
      if (wanted[d] < 1 || wanted[d] > largest_step) {
        node.refuse("invalid-attribute",
                    fmt::format("its attribute 'output_shape' is {}, with an extent out of range", to_text(wanted)),
                    fmt::format("give extents from 1 to {}", largest_step));
      }
      const std::int64_t total = full - wanted[d];
      if (total < 0) output_padding[d] -= total;  // more is wanted than the kernels reach: nothing is added there
      const std::int64_t pad = std::max<std::int64_t>(0, total);
      window.pads[d] = mode == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
      window.pads[d + window.axes] = pad - window.pads[d];
    }
  }
  Attributes attributes = window_attributes(window);
  attributes["group"] = node.int_attribute("group", 1);
  attributes["output_padding"] = output_padding;
  node.emit("ConvTranspose", std::move(attributes), node.operands());
}

void import_pool(NodeImport& node) {
  const Window window = resolved_window(node, node.operand(0)->shape, {});
  Attributes attributes = window_attributes(window);
  // Where auto_pad sets the number of positions, there is nothing left to round.
  attributes["ceil_mode"] = checked_auto_pad(node) == "NOTSET" ? node.int_attribute("ceil_mode", 0) : 0;
  const std::string& kind = node.node().op_type();
  if (kind == "AveragePool") attributes["count_include_pad"] = node.int_attribute("count_include_pad", 0);
  // The order in which the image's elements are counted matters to the indices alone.
  if (node.wants(1) && node.int_attribute("storage_order", 0) != 0) attributes["storage_order"] = std::int64_t{1};
  node.emit_outputs(kind, std::move(attributes), {node.operand(0)});
}

void import_batch_normalization(NodeImport& node) {
  refuse_training(node, node.int_attribute("training_mode", 0) != 0);
  if (node.int_attribute("spatial", 1) == 0) {
    node.refuse("unsupported-attribute", "normalises every element by itself (spatial is 0)",
                "export the network with opset 9 or newer");
  }
  node.emit("BatchNormalization", {{"epsilon", node.float_attribute("epsilon", 1e-5F)}}, node.operands());
}

void import_layer_normalization(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const std::int64_t axis = node.checked_axis(node.int_attribute("axis", -1), data->shape.size());
  const double epsilon = node.float_attribute("epsilon", 1e-5F);
  if (node.wants(0)) {
    node.emit_outputs("LayerNormalization", {{"axis", axis}, {"epsilon", epsilon}}, node.operands());
    return;
  }
  // Without the normalised tensor, mean and inverse deviation need no operator that makes it.
  Ints axes;
  for (auto a = axis; a < static_cast<std::int64_t>(data->shape.size()); ++a) axes.push_back(a);
  if (node.wants(1)) node.emit(1, "ReduceMean", {{"axes", axes}, {"keepdims", std::int64_t{1}}}, {data});
  if (node.wants(2)) node.emit(2, "InvStdDev", {{"axis", axis}, {"epsilon", epsilon}}, {data});
}

void import_softmax_flattening(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const auto rank = static_cast<std::int64_t>(data->shape.size());
  std::int64_t axis = node.int_attribute("axis", 1);
  if (axis != rank) axis = node.checked_axis(axis, data->shape.size());
  Ints axes;  // the tensor seen as a matrix: rows before the axis, columns from it on
  for (; axis < rank; ++axis) axes.push_back(axis);
  node.emit(node.node().op_type(), {{"axes", axes}}, {data});
}

void import_softmax(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const std::int64_t axis = node.checked_axis(node.int_attribute("axis", -1), data->shape.size());
  node.emit(node.node().op_type(), {{"axes", Ints{axis}}}, {data});
}

}  // namespace stowage::onnx_import
