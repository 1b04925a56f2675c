// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/cross_check.h"

#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>

namespace stowage::onnx_import {
namespace {

constexpr std::int64_t newest_checked_ir = 8;

/// The model without its large weights, which become network inputs of their type and shape: enough to check and to
/// infer from, without a second copy of the weights and without looking for external data.
onnx::ModelProto skeleton_of(const Model& model) {
  constexpr std::int64_t small = 64;  // elements; shapes and axes must stay
  onnx::ModelProto skeleton;
  skeleton.set_ir_version(std::min<std::int64_t>(model.proto.ir_version(), newest_checked_ir));
  *skeleton.mutable_opset_import() = model.proto.opset_import();
  onnx::GraphProto& graph = *skeleton.mutable_graph();
  const onnx::GraphProto& original = model.proto.graph();
  graph.set_name(original.name().empty() ? "graph" : original.name());
  *graph.mutable_node() = original.node();
  *graph.mutable_input() = original.input();
  *graph.mutable_output() = original.output();
  std::set<std::string> inputs;
  for (const auto& input : original.input()) inputs.insert(input.name());
  for (const auto& tensor : original.initializer()) {
    const auto count = checked_element_count(Shape(tensor.dims().begin(), tensor.dims().end()));
    if (count && *count <= small && tensor.data_location() != onnx::TensorProto::EXTERNAL) {
      *graph.add_initializer() = tensor;
    } else if (!inputs.contains(tensor.name())) {
      onnx::ValueInfoProto& input = *graph.add_input();
      input.set_name(tensor.name());
      auto& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(tensor.data_type());
      for (const auto dim : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(dim);
    }
  }
  return skeleton;
}

/// ONNX's inference divides by these without looking.
bool divides_by_nothing(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const onnx::AttributeProto& attribute) {
    return (attribute.name() == "strides" && std::count(attribute.ints().begin(), attribute.ints().end(), 0) > 0) ||
           ((attribute.name() == "group" || attribute.name() == "num_outputs") && attribute.i() == 0);
  });
}

bool is_checkable(const Model& model) { return model.opset <= newest_checked_opset && model.other_opsets.empty(); }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Gives the skeleton's inputs the shapes that they have in the import.
void set_input_shapes(onnx::ModelProto& skeleton, const Scope& scope) {
  onnx::GraphProto& graph = *skeleton.mutable_graph();
  for (auto& output : *graph.mutable_output()) {
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
  for (auto& input : *graph.mutable_input()) {
    const ValueRef value = scope.find(input.name());
    if (!value) continue;
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const auto extent : value->shape) shape.add_dim()->set_dim_value(extent);
  }
}

}  // namespace

std::optional<Shape> static_shape(const onnx::TypeProto& type) {
  if (!type.tensor_type().has_shape()) return std::nullopt;
  Shape shape;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) return std::nullopt;
    shape.push_back(dim.dim_value());
  }
  return shape;
}

bool check_with_onnx(const Model& model, Diagnostics& diagnostics) {
  if (!is_checkable(model)) return true;
  onnx::ModelProto skeleton = skeleton_of(model);
  for (auto& output : *skeleton.mutable_graph()->mutable_output()) {
    // The checker insists on a shape; the language leaves it open.
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->mutable_shape();
  }
  try {
    onnx::checker::check_model(skeleton);
    return true;
  } catch (const std::exception& error) {
    Diagnostic diagnostic;
    diagnostic.code = "invalid-onnx";
    diagnostic.location = model.location();
    diagnostic.message = fmt::format("ONNX's checker refuses the model: {}", first_line(error.what()));
    diagnostic.remedy = "mend the node where the network is made, and export it again";
    const std::string all = error.what();
    for (std::size_t at = all.find('\n'); at != std::string::npos; at = all.find('\n', at + 1)) {
      std::string line = first_line(all.substr(at + 1));
      if (!line.empty()) diagnostic.notes.push_back(std::move(line));
    }
    diagnostics.add(std::move(diagnostic));
    return false;
  }
}

std::map<std::string, onnx::TypeProto> infer_types(const Model& model, const Scope* scope) {
  onnx::ModelProto skeleton = skeleton_of(model);
  if (scope != nullptr) set_input_shapes(skeleton, *scope);
  auto& nodes = *skeleton.mutable_graph()->mutable_node();
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), divides_by_nothing), nodes.end());
  std::map<std::string, onnx::TypeProto> types;
  try {
    const onnx::ShapeInferenceOptions options(/*check_type=*/false, /*strict_mode=*/0, /*data_propagation=*/false);
    onnx::shape_inference::InferShapes(skeleton, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception&) {
    // What it found until then will do.
  }
  const onnx::GraphProto& graph = skeleton.graph();
  for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& info : *values) types[info.name()] = info.type();
  }
  for (const auto& tensor : graph.initializer()) {
    auto& type = *types[tensor.name()].mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    for (const auto dim : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(dim);
  }
  return types;
}

void compare_shapes(const ImportState& state, const Scope& scope, Diagnostics& diagnostics) {
  const Model& model = state.model;
  const auto compare = [&](const onnx::ValueInfoProto& info, std::string_view who, const std::string& code) {
    const ValueRef ours = scope.find(info.name());
    const auto theirs = static_shape(info.type());
    if (!ours || !theirs || *theirs == ours->shape) return;
    diagnostics.warning(code, model.location(fmt::format("tensor {}", info.name())),
                        fmt::format("{} the shape {}, but it is {}", who, to_text(*theirs), to_text(ours->shape)));
  };
  for (const auto& output : model.proto.graph().output()) compare(output, "the file declares", "declared-shape");
  if (!is_checkable(model)) return;
  onnx::ModelProto skeleton = skeleton_of(model);
  const onnx::GraphProto& graph = skeleton.graph();
  set_input_shapes(skeleton, scope);
  try {
    const onnx::ShapeInferenceOptions options(/*check_type=*/false, /*strict_mode=*/0, /*data_propagation=*/false);
    onnx::shape_inference::InferShapes(skeleton, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception& error) {
    diagnostics.warning("shape-inference", model.location(),
                        fmt::format("ONNX's shape inference stops: {}", first_line(error.what())));
    return;
  }
  for (const auto& info : graph.value_info()) compare(info, "ONNX infers", "inferred-shape");
  for (const auto& info : graph.output()) compare(info, "ONNX infers", "inferred-shape");
}

}  // namespace stowage::onnx_import
