// SPDX-License-Identifier: Apache-2.0
// Operators that vanish on import: constants, shape computations, aliases, branches whose condition is known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/onnx/import_rows.h"
#include "core/onnx/node_import.h"
#include "core/onnx/tensor_proto.h"

namespace stowage::onnx_import {
namespace {

Tensor ints_tensor(const std::vector<std::int64_t>& values) {
  return Tensor::of_int64s({static_cast<std::int64_t>(values.size())}, values);
}

/// The tensor attribute `name`, read.
Tensor tensor_attribute(NodeImport& node, std::string_view name) {
  auto tensor =
      read_tensor(node.attribute(name)->t(), node.state().model.folder, node.location(), node.state().diagnostics);
  if (!tensor) throw Refused{};
  return *std::move(tensor);
}

/// `shape` filled with one element.
Tensor filled(ElementType type, const Shape& shape, const std::byte* element) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  const auto size = static_cast<std::size_t>(byte_size(type));
  std::vector<std::byte> bytes(count * size);
  if (count > 0) std::memcpy(bytes.data(), element, size);
  for (std::size_t done = size; done < bytes.size(); done *= 2) {  // weights of whole networks may be made like this
    std::memcpy(bytes.data() + done, bytes.data(), std::min(done, bytes.size() - done));
  }
  return {type, shape, std::move(bytes)};
}

}  // namespace

void import_alias(NodeImport& node) { node.set_output(0, node.operand(0)); }

void import_dropout(NodeImport& node) {
  if (node.has_operand(2)) {
    const Tensor training = node.known(2, "the training mode");
    if (training.type() != ElementType::boolean || training.size() != 1) {
      node.refuse("wrong-type", "the training mode must be one bool");
    }
    if (training.as_int64(0) != 0) {
      node.refuse("training-mode", "is in training mode", "export the network for inference");
    }
  }
  const ValueRef data = node.operand(0);
  node.set_output(0, data);
  if (!node.wants(1)) return;
  node.reserve(ElementType::boolean, data->shape);
  const std::byte kept{1};
  node.set_constant(1, filled(ElementType::boolean, data->shape, &kept));
}

void import_constant(NodeImport& node) {
  if (node.node().attribute_size() != 1) {
    node.refuse("invalid-onnx", fmt::format("a Constant has one value, this one has {}", node.node().attribute_size()));
  }
  const onnx::AttributeProto& attribute = node.node().attribute(0);
  const std::string& form = attribute.name();
  if (form == "value") {
    node.set_constant(0, tensor_attribute(node, "value"));
  } else if (form == "value_int") {
    const std::int64_t value = attribute.i();
    node.set_constant(0, Tensor::of_int64s({}, std::span(&value, 1)));
  } else if (form == "value_ints") {
    node.set_constant(0, ints_tensor(node.ints_attribute("value_ints")));
  } else if (form == "value_float") {
    const float value = attribute.f();
    node.set_constant(0, Tensor::of_floats({}, std::span(&value, 1)));
  } else if (form == "value_floats") {
    const std::vector<float> values(attribute.floats().begin(), attribute.floats().end());
    node.set_constant(0, Tensor::of_floats({static_cast<std::int64_t>(values.size())}, values));
  } else if (form == "sparse_value") {
    node.refuse("sparse-tensor", "is a sparse tensor, which is not supported", "store it as an ordinary tensor");
  } else {
    node.refuse("unsupported-type", "holds strings, in which Stowage does not compute");
  }
}

void import_constant_of_shape(NodeImport& node) {
  const Shape shape = node.known_ints(0, "the shape");
  if (shape.size() > max_rank)
    node.refuse("tensor-too-large", fmt::format("its result has {} dimensions", shape.size()));
  for (const auto extent : shape) {
    if (extent < 0)
      node.refuse("invalid-shape", fmt::format("makes a tensor of the shape {}", to_text(shape)),
                  "give extents of at least 0");
  }
  Tensor element = Tensor::scalar(ElementType::f32, 0);
  if (node.attribute("value")) element = tensor_attribute(node, "value");
  if (element.size() != 1) node.refuse("invalid-onnx", "its value must be one element");
  node.reserve(element.type(), shape);
  node.set_constant(0, filled(element.type(), shape, element.bytes().data()));
}

void import_shape(NodeImport& node) {
  const Shape shape = node.operand(0)->shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto clamped = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t start = clamped(node.int_attribute("start", 0));
  const std::int64_t end = std::max(start, clamped(node.int_attribute("end", rank)));
  node.set_constant(0, ints_tensor({shape.begin() + start, shape.begin() + end}));
}

void import_size(NodeImport& node) {
  const std::int64_t size = element_count(node.operand(0)->shape);
  node.set_constant(0, Tensor::of_int64s({}, std::span(&size, 1)));
}

void import_range(NodeImport& node) {
  const ElementType type = node.operand(0)->type;
  for (int slot = 1; slot < 3; ++slot) {
    if (node.operand(slot)->type != type) node.refuse("wrong-type", "start, limit and delta must be of one type");
  }
  const auto count_of = [&](double count) {
    if (!(count <= 9e15)) node.refuse("tensor-too-large", "its result has more elements than any tensor can");
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
  };
  std::vector<std::byte> bytes;
  Shape shape;
  const auto size = static_cast<std::size_t>(byte_size(type));
  if (is_integer(type)) {
    const std::int64_t start = node.known_int(0, "the start");
    const std::int64_t limit = node.known_int(1, "the limit");
    const std::int64_t delta = node.known_int(2, "the step");
    if (delta == 0) node.refuse("division-by-zero", "the step is zero", "give a step above or below zero");
    const double span = static_cast<double>(limit) - static_cast<double>(start);
    shape = {count_of(std::ceil(span / static_cast<double>(delta)))};
    node.reserve(type, shape);
    bytes.resize(static_cast<std::size_t>(shape[0]) * size);
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      store_element(type, start + i * delta, bytes.data() + static_cast<std::size_t>(i) * size);
    }
  } else {
    const double start = node.known_real(0, "the start");
    const double limit = node.known_real(1, "the limit");
    const double delta = node.known_real(2, "the step");
    if (delta == 0 || !std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(delta)) {
      node.refuse("division-by-zero", "start, limit and step must be finite, and the step not zero",
                  "give finite numbers, and a step above or below zero");
    }
    shape = {count_of(std::ceil((limit - start) / delta))};
    node.reserve(type, shape);
    bytes.resize(static_cast<std::size_t>(shape[0]) * size);
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      store_element(type, start + static_cast<double>(i) * delta, bytes.data() + static_cast<std::size_t>(i) * size);
    }
  }
  node.set_constant(0, Tensor(type, shape, std::move(bytes)));
}

void import_non_zero(NodeImport& node) {
  const Tensor tensor = node.known(0, "the tensor");
  const auto rank = static_cast<std::int64_t>(tensor.shape().size());
  const auto strides = row_major_strides(tensor.shape());
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.as_double(i) != 0) places.push_back(i);
  }
  const auto count = static_cast<std::int64_t>(places.size());
  node.reserve(ElementType::i64, {rank, count});
  std::vector<std::int64_t> indices;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    for (const std::int64_t place : places) indices.push_back(place / strides[d] % tensor.shape()[d]);
  }
  node.set_constant(0, Tensor::of_int64s({rank, count}, indices));
}

void import_if(NodeImport& node) {
  constexpr int deepest = 8;
  const Tensor condition = node.known(0, "the condition");
  if (condition.type() != ElementType::boolean || condition.size() != 1) {
    node.refuse("wrong-type", "the condition must be one bool");
  }
  if (node.branch_depth() >= deepest)
    node.refuse("model-too-large", fmt::format("branches are nested more than {} deep", deepest));
  const bool taken = condition.as_int64(0) != 0;
  const onnx::GraphProto& branch = node.attribute(taken ? "then_branch" : "else_branch")->g();
  if (branch.output_size() != node.node().output_size()) {
    node.refuse("wrong-output-count",
                fmt::format("has {} outputs, but its branch has {}", node.node().output_size(), branch.output_size()));
  }
  Scope scope;
  scope.outer = &node.scope();
  for (const auto& proto : branch.initializer()) {
    auto tensor = read_tensor(proto, node.state().model.folder, node.location(), node.state().diagnostics);
    if (!tensor) throw Refused{};
    auto value = std::make_shared<Value>();
    value->name = fmt::format("{}/{}", node.name(), proto.name());
    value->type = tensor->type();
    value->shape = tensor->shape();
    value->constant = *std::move(tensor);
    scope.values[proto.name()] = std::move(value);
  }
  if (!import_nodes(node.state(), scope, branch, node.name() + "/", node.branch_depth() + 1)) throw Refused{};
  for (int slot = 0; slot < branch.output_size(); ++slot) {
    ValueRef value = scope.find(branch.output(slot).name());
    if (!value)
      node.refuse("missing-output", fmt::format("its branch does not define '{}'", branch.output(slot).name()));
    node.set_output(slot, std::move(value));
  }
}

}  // namespace stowage::onnx_import
