// SPDX-License-Identifier: Apache-2.0
// Limits, reductions, casts and the like.
#include <fmt/format.h>

#include <algorithm>

#include "core/onnx/import_rows.h"
#include "core/onnx/node_import.h"
#include "core/onnx/tensor_proto.h"
#include "core/stage.h"

namespace stowage::onnx_import {
namespace {

void emit_cast(NodeImport& node, ElementType to) {
  const ValueRef data = node.operand(0);
  if (data->type == to) return node.set_output(0, data);
  node.emit("Cast", {{"to", std::string(name_of(to))}}, {data});
}

/// ReduceMax of a tensor without elements: -inf, or the lowest integer, once for every element of the result.
void set_largest_of_nothing(NodeImport& node, const std::vector<std::int64_t>& axes) {
  const ValueRef data = node.operand(0);
  const bool keep = node.int_attribute("keepdims", 1) != 0;
  Shape shape;
  for (std::size_t d = 0; d < data->shape.size(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    if (!reduced || keep) shape.push_back(reduced ? 1 : data->shape[d]);
  }
  node.reserve(data->type, shape);
  const auto size = static_cast<std::size_t>(byte_size(data->type));
  std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(shape)) * size);
  const double lowest = identity_of(Reduction::maximum, data->type);
  for (std::size_t at = 0; at < bytes.size(); at += size) store_element(data->type, lowest, bytes.data() + at);
  node.set_constant(0, Tensor(data->type, shape, std::move(bytes)));
}

}  // namespace

void import_clip_attributes(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const auto limit = [&](std::string_view name) {
    return node.attribute(name) ? node.constant(name, Tensor::scalar(data->type, node.float_attribute(name, 0)))
                                : nullptr;
  };
  const ValueRef low = limit("min");
  const ValueRef high = limit("max");
  if (!low && !high) return node.set_output(0, data);
  node.emit("Clip", {}, {data, low, high});
}

void import_clip(NodeImport& node) {
  const auto operands = node.operands();
  if (operands.size() == 1) return node.set_output(0, operands[0]);
  node.emit("Clip", {}, operands);
}

void import_reduce(NodeImport& node) {
  const ValueRef data = node.operand(0);
  const std::size_t rank = data->shape.size();
  std::vector<std::int64_t> axes = node.ints_attribute("axes");
  if (node.has_operand(1)) axes = node.known_ints(1, "the list of axes");
  for (auto& axis : axes) axis = node.checked_axis(axis, rank);
  const bool nothing = axes.empty() && node.int_attribute("noop_with_empty_axes", 0) != 0;
  if (axes.empty() && !nothing) {
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  }
  const Attributes over = {{"axes", axes}, {"keepdims", node.int_attribute("keepdims", 1)}};
  const std::string& kind = node.node().op_type();
  if (kind == "ReduceMax" && data->type == ElementType::boolean) {  // since opset 20: any of them
    const ValueRef numbers = node.part("numbers", "Cast", {{"to", std::string(name_of(ElementType::u8))}}, {data});
    const ValueRef largest = node.part("largest", kind, over, {numbers});
    node.emit("Cast", {{"to", std::string(name_of(ElementType::boolean))}}, {largest});
    return;
  }
  if (kind == "ReduceMax" && element_count(data->shape) == 0) return set_largest_of_nothing(node, axes);
  node.emit(kind, over, {data});
}

void import_cast(NodeImport& node) {
  const auto to = node.int_attribute("to", 0);
  const auto type = to >= 0 && to < 1000 ? element_type_of(static_cast<int>(to)) : std::nullopt;
  if (!type || !is_computable(*type)) {
    node.refuse("unsupported-type",
                fmt::format("casts to {}, in which Stowage does not compute", onnx_type_name(static_cast<int>(to))));
  }
  emit_cast(node, *type);
}

void import_cast_like(NodeImport& node) { emit_cast(node, node.operand(1)->type); }

}  // namespace stowage::onnx_import
