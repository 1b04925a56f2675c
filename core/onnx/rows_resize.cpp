// SPDX-License-Identifier: Apache-2.0
// Resize and its predecessor Upsample: sizes and scales of all axes become attributes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/onnx/import_rows.h"
#include "core/onnx/node_import.h"

namespace stowage::onnx_import {
namespace {

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// Extents of the result for scales of all axes: floor(extent * scale), as ONNX says.
Ints scaled_sizes(NodeImport& node, const Shape& shape, const Reals& scales) {
  if (scales.size() != shape.size()) {
    node.refuse("shape-mismatch", fmt::format("{} scales for a tensor of {} dimensions", scales.size(), shape.size()));
  }
  Ints sizes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const double size = std::floor(static_cast<double>(shape[d]) * scales[d]);
    if (!(scales[d] > 0) || !(size < 1e9))
      node.refuse("invalid-attribute", fmt::format("axis {} has the scale {}", d, scales[d]));
    sizes.push_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

/// How elements are found and weighed, besides sizes and scales.
struct Sampling {
  std::string mode;
  std::string coordinates = "asymmetric";
  std::string nearest = "floor";
  std::int64_t antialias = 0;
  std::int64_t exclude_outside = 0;
};

void emit_resize(NodeImport& node, const ValueRef& data, Ints sizes, Reals scales, const Sampling& sampling) {
  if (sampling.mode != "nearest" && sampling.mode != "linear") {
    node.refuse("unsupported-attribute",
                fmt::format("resizes by mode '{}'; Stowage has nearest and linear", sampling.mode));
  }
  Attributes attributes = {{"coordinate_transformation_mode", sampling.coordinates},
                           {"mode", sampling.mode},
                           {"scales", std::move(scales)},
                           {"sizes", std::move(sizes)}};
  if (sampling.mode == "nearest") attributes["nearest_mode"] = sampling.nearest;
  if (sampling.mode == "linear" && sampling.antialias != 0) attributes["antialias"] = sampling.antialias;
  if (sampling.mode == "linear" && sampling.exclude_outside != 0)
    attributes["exclude_outside"] = sampling.exclude_outside;
  node.emit("Resize", std::move(attributes), {data});
}

/// Values for some axes, written out for all of them.
template <class T>
std::vector<T> spread(NodeImport& node, const std::vector<T>& some, const Ints& axes, std::vector<T> all) {
  if (some.size() != axes.size()) {
    node.refuse("shape-mismatch", fmt::format("{} sizes or scales for {} axes", some.size(), axes.size()));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) all[static_cast<std::size_t>(axes[i])] = some[i];
  return all;
}

std::string mode_of(NodeImport& node) {
  std::string mode = node.string_attribute("mode", "nearest");
  return mode == "bilinear" ? "linear" : mode;
}

}  // namespace

void import_upsample(NodeImport& node) {
  const ValueRef data = node.operand(0);
  Reals scales;
  if (const auto* attribute = node.attribute("scales")) {
    scales.assign(attribute->floats().begin(), attribute->floats().end());
  } else {
    scales = node.known_reals(1, "the list of scales");
  }
  emit_resize(node, data, scaled_sizes(node, data->shape, scales), scales, {mode_of(node)});
}

void import_resize(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const Shape& shape = data->shape;
  if (node.opset() == 10) {
    const Reals scales = node.known_reals(1, "the list of scales");
    return emit_resize(node, data, scaled_sizes(node, shape, scales), scales, {mode_of(node)});
  }
  const std::string coordinates = node.string_attribute("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "tf_crop_and_resize")
    node.refuse("unsupported-attribute", "crops while it resizes (tf_crop_and_resize)");
  Ints axes = node.ints_attribute("axes");
  for (auto& axis : axes) axis = node.checked_axis(axis, shape.size());
  if (!node.attribute("axes")) {
    for (std::size_t d = 0; d < shape.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  }
  const bool has_scales =
      node.has_operand(2) && !node.operand(2)->shape.empty() && element_count(node.operand(2)->shape) > 0;
  const bool has_sizes = node.has_operand(3) && element_count(node.operand(3)->shape) > 0;
  if (has_scales == has_sizes) node.refuse("invalid-onnx", "needs either scales or sizes");
  Reals scales(shape.size(), 1);
  Ints sizes;
  if (has_scales) {
    scales = spread(node, node.known_reals(2, "the list of scales"), axes, scales);
    sizes = scaled_sizes(node, shape, scales);
  } else {
    Ints wanted = node.known_ints(3, "the list of sizes");
    sizes = spread(node, wanted, axes, Ints(shape));
    const std::string policy = node.string_attribute("keep_aspect_ratio_policy", "stretch");
    for (const auto axis : axes) {
      const auto d = static_cast<std::size_t>(axis);
      if (sizes[d] < 1 || sizes[d] > 1'000'000'000 || shape[d] < 1) {
        node.refuse("invalid-shape", fmt::format("resizes {} to {}", to_text(shape), to_text(sizes)));
      }
      scales[d] = static_cast<double>(sizes[d]) / static_cast<double>(shape[d]);
    }
    if (policy != "stretch" && !axes.empty()) {
      double scale = scales[static_cast<std::size_t>(axes[0])];
      for (const auto axis : axes) {
        const double other = scales[static_cast<std::size_t>(axis)];
        scale = policy == "not_larger" ? std::min(scale, other) : std::max(scale, other);
      }
      for (const auto axis : axes) {
        const auto d = static_cast<std::size_t>(axis);
        scales[d] = scale;
        sizes[d] = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(shape[d]) + 0.5));
      }
    }
  }
  emit_resize(node, data, sizes, scales,
              {mode_of(node), coordinates, node.string_attribute("nearest_mode", "round_prefer_floor"),
               node.int_attribute("antialias", 0), node.int_attribute("exclude_outside", 0)});
}

}  // namespace stowage::onnx_import
