// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: shapes, axes, ranges and paddings become attributes, as operands or attributes of the
// file say them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/onnx/import_rows.h"
#include "core/onnx/node_import.h"
#include "core/onnx/tensor_proto.h"
#include "core/tensor_limits.h"

namespace stowage::onnx_import {
namespace {

using Ints = std::vector<std::int64_t>;

/// The axes of Squeeze, Unsqueeze …: an attribute or operand 1; nothing where neither is there.
std::optional<Ints> axes_of(NodeImport& node) {
  if (node.attribute("axes")) return node.ints_attribute("axes");
  if (node.has_operand(1)) return node.known_ints(1, "the list of axes");
  return std::nullopt;
}

Ints checked_axes(NodeImport& node, Ints axes, std::size_t rank) {
  for (auto& axis : axes) axis = node.checked_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    node.refuse("axis-out-of-range", "names an axis twice", "name each axis once");
  }
  return axes;
}

void check_rank(NodeImport& node, std::size_t rank) {
  if (rank > max_rank) {
    node.refuse("tensor-too-large",
                fmt::format("its result has {} dimensions; at most {} are possible", rank, max_rank));
  }
}

std::int64_t count_or_refuse(NodeImport& node, const Shape& shape) {
  for (const auto extent : shape) {
    if (extent < 0)
      node.refuse("invalid-shape", fmt::format("its result would have the shape {}", to_text(shape)),
                  "give extents of at least 0");
  }
  const auto count = checked_element_count(shape);
  if (!count || *count > max_elements) node.refuse_too_large("its result", shape);
  return *count;
}

void emit_reshape(NodeImport& node, const ValueRef& data, Shape shape) {
  node.emit("Reshape", {{"shape", std::move(shape)}}, {data});
}

}  // namespace

void import_reshape(NodeImport& node) {
  const ValueRef data = node.operand(0);
  Shape shape = node.known_ints(1, "the new shape");
  check_rank(node, shape.size());
  const bool keep_zero = node.int_attribute("allowzero", 0) != 0;
  std::optional<std::size_t> open;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !keep_zero) {
      if (d >= data->shape.size()) {
        node.refuse("shape-mismatch", fmt::format("the new shape {} copies axis {}, which {} lacks", to_text(shape), d,
                                                  to_text(data->shape)));
      }
      shape[d] = data->shape[d];
    } else if (shape[d] == -1 && !open) {
      open = d;
    } else if (shape[d] < 0) {
      node.refuse("invalid-shape", fmt::format("the new shape {} has an extent below -1, or -1 twice", to_text(shape)),
                  "give extents of at least 0, and -1 at most once for what is left");
    }
  }
  const std::int64_t wanted = element_count(data->shape);
  if (open) {
    shape[*open] = 1;
    const std::int64_t rest = count_or_refuse(node, shape);
    shape[*open] = rest == 0 ? 0 : wanted / rest;
  }
  if (count_or_refuse(node, shape) != wanted) {
    node.refuse("shape-mismatch", fmt::format("{} with {} elements cannot take the shape {}", to_text(data->shape),
                                              wanted, to_text(Shape(node.known_ints(1, "the new shape")))));
  }
  emit_reshape(node, data, std::move(shape));
}

void import_flatten(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const auto rank = static_cast<std::int64_t>(data->shape.size());
  std::int64_t axis = node.int_attribute("axis", 1);
  if (axis < -rank || axis > rank) {
    node.refuse("axis-out-of-range", fmt::format("axis {} does not exist in a tensor of {} dimensions", axis, rank));
  }
  if (axis < 0) axis += rank;
  node.emit("Flatten", {{"axis", axis}}, {data});
}

void import_squeeze(NodeImport& node) {
  const ValueRef data = node.operand(0);
  auto axes = axes_of(node);
  if (!axes) {
    axes.emplace();
    for (std::size_t d = 0; d < data->shape.size(); ++d) {
      if (data->shape[d] == 1) axes->push_back(static_cast<std::int64_t>(d));
    }
  }
  const Ints checked = checked_axes(node, *axes, data->shape.size());
  for (const auto axis : checked) {
    if (const auto extent = data->shape[static_cast<std::size_t>(axis)]; extent != 1) {
      node.refuse("shape-mismatch",
                  fmt::format("axis {} of {} has extent {}, not 1", axis, to_text(data->shape), extent));
    }
  }
  node.emit("Squeeze", {{"axes", checked}}, {data});
}

void import_unsqueeze(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const Ints axes = *axes_of(node);
  const std::size_t rank = data->shape.size() + axes.size();
  check_rank(node, rank);
  node.emit("Unsqueeze", {{"axes", checked_axes(node, axes, rank)}}, {data});
}

void import_transpose(NodeImport& node) {
  const ValueRef data = node.operand(0);
  Ints perm = node.ints_attribute("perm");
  if (!node.attribute("perm")) {
    for (std::size_t d = data->shape.size(); d-- > 0;) perm.push_back(static_cast<std::int64_t>(d));
  }
  Ints sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool good = sorted.size() == data->shape.size();
  for (std::size_t d = 0; good && d < sorted.size(); ++d) good = sorted[d] == static_cast<std::int64_t>(d);
  if (!good) {
    node.refuse("shape-mismatch",
                fmt::format("perm {} does not permute the axes of {}", to_text(perm), to_text(data->shape)));
  }
  node.emit("Transpose", {{"perm", perm}}, {data});
}

void import_expand(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const Shape wanted = node.known_ints(1, "the shape");
  check_rank(node, wanted.size());
  Shape shape(std::max(wanted.size(), data->shape.size()), 1);
  std::copy(data->shape.begin(), data->shape.end(), shape.end() - static_cast<std::ptrdiff_t>(data->shape.size()));
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    std::int64_t& extent = shape[shape.size() - wanted.size() + d];
    if (extent == 1) {
      extent = wanted[d];
    } else if (wanted[d] != 1 && wanted[d] != extent) {
      node.refuse("shape-mismatch", fmt::format("{} cannot be expanded to {}", to_text(data->shape), to_text(wanted)));
    }
  }
  (void)count_or_refuse(node, shape);
  node.emit("Expand", {{"shape", shape}}, {data});
}

void import_concat(NodeImport& node) {
  const ValueRef first = node.operand(0);
  const std::int64_t axis = node.checked_axis(node.int_attribute("axis", 0), first->shape.size());
  const auto operands = node.operands();
  for (std::size_t slot = 0; slot < operands.size(); ++slot) {
    if (!operands[slot]) node.refuse("missing-input", fmt::format("operand {} is missing", slot));
  }
  if (operands.size() == 1) return node.set_output(0, first);
  node.emit("Concat", {{"axis", axis}}, operands);
}

void import_slice(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const bool by_operand = node.opset() >= 10;
  const auto list = [&](int slot, std::string_view name) {
    return by_operand ? node.known_ints(slot, fmt::format("the list of {}", name)) : node.ints_attribute(name);
  };
  Ints starts = list(1, "starts");
  Ints ends = list(2, "ends");
  Ints axes;
  if (by_operand ? node.has_operand(3) : node.attribute("axes") != nullptr) {
    axes = list(3, "axes");
  } else {
    for (std::size_t d = 0; d < starts.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  }
  Ints steps(starts.size(), 1);
  if (by_operand && node.has_operand(4)) steps = list(4, "steps");
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    node.refuse("shape-mismatch", fmt::format("has {} starts, {} ends, {} axes and {} steps", starts.size(),
                                              ends.size(), axes.size(), steps.size()));
  }
  std::vector<bool> seen(data->shape.size(), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i] = node.checked_axis(axes[i], data->shape.size());
    if (seen[static_cast<std::size_t>(axes[i])])
      node.refuse("axis-out-of-range", fmt::format("slices axis {} twice", axes[i]), "name each axis once");
    seen[static_cast<std::size_t>(axes[i])] = true;
    if (steps[i] == 0)
      node.refuse("division-by-zero", fmt::format("the step of axis {} is zero", axes[i]),
                  "give a step above or below zero");
    // Written so that start and end lie inside the tensor: everything behind the import may rely on it.
    const std::int64_t extent = data->shape[static_cast<std::size_t>(axes[i])];
    if (extent == 0) {
      starts[i] = ends[i] = 0;
      steps[i] = 1;
      continue;
    }
    const auto from_end = [&](std::int64_t at) {
      return at < 0 ? (at < -extent ? std::int64_t{-1} : at + extent) : at;
    };
    const bool start_below = starts[i] < -extent;
    if (steps[i] > 0) {
      starts[i] = start_below ? 0 : std::min(from_end(starts[i]), extent);
      ends[i] = ends[i] < -extent ? 0 : std::min(from_end(ends[i]), extent);
      ends[i] = std::max(starts[i], ends[i]);
      steps[i] = std::min(steps[i], extent);
    } else {
      starts[i] = start_below ? 0 : std::min(from_end(starts[i]), extent - 1);
      // "before the first element" cannot be written as a place; ONNX clamps anything far below to it.
      const std::int64_t end = ends[i] < -extent ? -1 : std::min(from_end(ends[i]), extent - 1);
      ends[i] = end < 0 ? std::numeric_limits<std::int64_t>::min() : end;
      steps[i] = std::max(steps[i], -extent);
    }
  }
  node.emit("Slice", {{"axes", axes}, {"ends", ends}, {"starts", starts}, {"steps", steps}}, {data});
}

void import_split(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const std::int64_t axis = node.checked_axis(node.int_attribute("axis", 0), data->shape.size());
  const std::int64_t extent = data->shape[static_cast<std::size_t>(axis)];
  const auto parts = static_cast<std::int64_t>(node.node().output_size());
  Ints sizes;
  if (node.attribute("split")) {
    sizes = node.ints_attribute("split");
  } else if (node.has_operand(1)) {
    sizes = node.known_ints(1, "the sizes of the parts");
  } else {
    if (const auto wanted = node.int_attribute("num_outputs", parts); wanted != parts) {
      node.refuse("wrong-output-count", fmt::format("num_outputs is {}, but the node has {}", wanted, parts));
    }
    // Before opset 18 the parts must be equal; since then the last one may be smaller.
    if (node.opset() < 18 && extent % parts != 0) {
      node.refuse("shape-mismatch",
                  fmt::format("axis {} of extent {} cannot be split into {} equal parts", axis, extent, parts));
    }
    const std::int64_t size = (extent + parts - 1) / parts;
    for (std::int64_t p = 0; p < parts; ++p) sizes.push_back(std::clamp<std::int64_t>(extent - p * size, 0, size));
  }
  std::int64_t sum = 0;
  bool good = static_cast<std::int64_t>(sizes.size()) == parts;
  for (const auto size : sizes) good = good && size >= 0 && !__builtin_add_overflow(sum, size, &sum);
  if (!good || sum != extent) {
    node.refuse("shape-mismatch", fmt::format("axis {} of extent {} cannot be split into {} parts of {}", axis, extent,
                                              parts, to_text(sizes)));
  }
  std::int64_t start = 0;
  for (int p = 0; p < static_cast<int>(parts); ++p) {
    const std::int64_t end = start + sizes[static_cast<std::size_t>(p)];
    if (node.wants(p)) {
      node.emit(p, "Slice", {{"axes", Ints{axis}}, {"ends", Ints{end}}, {"starts", Ints{start}}, {"steps", Ints{1}}},
                {data});
    }
    start = end;
  }
}

void import_pad(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const std::size_t rank = data->shape.size();
  Ints pads = node.attribute("pads") ? node.ints_attribute("pads") : node.known_ints(1, "the list of pads");
  if (node.has_operand(3)) {
    Ints axes = node.known_ints(3, "the list of axes");
    if (pads.size() != 2 * axes.size()) {
      node.refuse("shape-mismatch", fmt::format("{} pads for {} axes", pads.size(), axes.size()));
    }
    Ints full(2 * rank, 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<std::size_t>(node.checked_axis(axes[i], rank));
      full[axis] = pads[i];
      full[axis + rank] = pads[i + axes.size()];
    }
    pads = full;
  }
  if (pads.size() != 2 * rank) {
    node.refuse("shape-mismatch", fmt::format("{} pads for a tensor of {} dimensions", pads.size(), rank));
  }
  Shape shape = data->shape;
  for (std::size_t d = 0; d < rank; ++d) {
    if (__builtin_add_overflow(shape[d], pads[d], &shape[d]) ||
        __builtin_add_overflow(shape[d], pads[d + rank], &shape[d])) {
      node.refuse("invalid-shape", "its pads cut off more than there is, or overflow",
                  "give pads that leave extents of at least 0");
    }
  }
  (void)count_or_refuse(node, shape);
  Attributes attributes = {{"mode", node.string_attribute("mode", "constant")}, {"pads", pads}};
  if (node.attribute("value")) attributes["value"] = node.float_attribute("value", 0);
  if (node.has_operand(2)) {
    const Tensor value = node.known(2, "the padding value");
    if (value.size() != 1 || value.type() != data->type) {
      node.refuse("wrong-type", fmt::format("the padding value must be one {}", name_of(data->type)));
    }
    attributes["value"] = value.as_double(0);
  }
  node.emit("Pad", std::move(attributes), {data});
}

void import_gather(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const ValueRef indices = node.operand(1);
  if (data->shape.empty()) node.refuse("axis-out-of-range", "gathers from a scalar");
  const std::int64_t axis = node.checked_axis(node.int_attribute("axis", 0), data->shape.size());
  if (indices->constant && is_integer(indices->type)) {
    const std::int64_t extent = data->shape[static_cast<std::size_t>(axis)];
    for (const auto index : indices->constant->to_int64s()) {
      if (index < -extent || index >= extent) {
        node.refuse("index-out-of-range",
                    fmt::format("index {} lies outside axis {} of extent {}", index, axis, extent),
                    extent == 0 ? "gather from an axis that has elements"
                                : fmt::format("give indices from -{} to {}", extent, extent - 1));
      }
    }
  }
  node.emit("Gather", {{"axis", axis}}, {data, indices});
}

}  // namespace stowage::onnx_import
