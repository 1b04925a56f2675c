// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/network_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/onnx/tensor_proto.h"
#include "core/tensor_limits.h"

namespace stowage::onnx_import {
namespace {

/// The name of a dynamic dimension: as the model has it, or INPUT_AXIS. Empty if the dimension is a number.
std::string dimension_name(const onnx::ValueInfoProto& input, int axis) {
  const auto& dim = input.type().tensor_type().shape().dim(axis);
  if (dim.has_dim_value() && dim.dim_value() >= 0) return {};
  if (dim.has_dim_param() && !dim.dim_param().empty()) return dim.dim_param();
  return fmt::format("{}_{}", input.name(), axis);
}

class NetworkInputs {
 public:
  NetworkInputs(ImportState& state, Scope& scope)
      : state_(state), scope_(scope), graph_(state.model.proto.graph()), sizes_(state.options.dimensions) {
    for (const auto& tensor : graph_.initializer()) weights_.insert(tensor.name());
  }

  bool run() {
    check_names();
    for (const auto& input : graph_.input()) {
      if (!weights_.contains(input.name())) take_binding(input);
    }
    for (const auto& input : graph_.input()) {
      if (!weights_.contains(input.name())) add_input(input);
    }
    report_missing_sizes();
    add_weights();
    for (const auto& input : graph_.input()) note_failure(input.name());
    for (const auto& tensor : graph_.initializer()) note_failure(tensor.name());
    return good_;
  }

 private:
  void fail(std::string code, std::string object, std::string message, std::string remedy = {}) {
    good_ = false;
    state_.diagnostics.error(std::move(code), state_.model.location(std::move(object)), std::move(message),
                             std::move(remedy));
  }

  /// Nodes that read what is not there are not to blame.
  void note_failure(const std::string& name) {
    if (!scope_.values.contains(name)) scope_.failed.insert(name);
  }

  void check_names() {
    std::set<std::string> dimensions;
    std::vector<std::string> inputs;
    for (const auto& input : graph_.input()) {
      if (weights_.contains(input.name())) continue;
      inputs.push_back(input.name());
      for (int axis = 0; axis < input.type().tensor_type().shape().dim_size(); ++axis) {
        if (auto name = dimension_name(input, axis); !name.empty()) dimensions.insert(std::move(name));
      }
    }
    const std::vector<std::string> known(dimensions.begin(), dimensions.end());
    for (const auto& [name, size] : state_.options.dimensions) {
      if (!dimensions.contains(name)) {
        fail("unknown-dimension", {}, fmt::format("--dim {}: the network has no dynamic dimension of this name", name),
             suggest_name(name, known));
      } else if (size < 0) {
        fail("invalid-dimension", {}, fmt::format("--dim {}={}: a dimension is at least 0", name, size),
             "give a size of at least 0");
      }
    }
    for (const auto& [name, value] : state_.options.bindings) {
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
        fail("unknown-input", {}, fmt::format("--bind {}: the network has no input of this name", name),
             suggest_name(name, inputs));
      }
    }
  }

  /// A bound input becomes a constant, and its shape fixes dynamic dimensions that share its names.
  void take_binding(const onnx::ValueInfoProto& input) {
    const auto bound = state_.options.bindings.find(input.name());
    if (bound == state_.options.bindings.end()) return;
    const Tensor& tensor = bound->second;
    const std::string object = fmt::format("input {}", input.name());
    const auto wanted = element_type_of(input.type().tensor_type().elem_type());
    if (wanted != tensor.type()) {
      fail("binding-mismatch", object,
           fmt::format("holds {}, but --bind gives {}", onnx_type_name(input.type().tensor_type().elem_type()),
                       name_of(tensor.type())),
           "store the values in the input's type");
      return;
    }
    const auto& shape = input.type().tensor_type().shape();
    bool fits = !input.type().tensor_type().has_shape() || shape.dim_size() == static_cast<int>(tensor.shape().size());
    for (int axis = 0; fits && axis < shape.dim_size(); ++axis) {
      const std::int64_t extent = tensor.shape()[static_cast<std::size_t>(axis)];
      const std::string name = dimension_name(input, axis);
      fits =
          name.empty() ? shape.dim(axis).dim_value() == extent : sizes_.emplace(name, extent).first->second == extent;
    }
    if (!fits) {
      fail("binding-mismatch", object, fmt::format("cannot be bound to a tensor of shape {}", to_text(tensor.shape())),
           "give a tensor of the shape that the model declares");
      return;
    }
    auto value = std::make_shared<Value>();
    value->name = input.name();
    value->type = tensor.type();
    value->shape = tensor.shape();
    value->constant = tensor;
    scope_.values[input.name()] = std::move(value);
  }

  void add_input(const onnx::ValueInfoProto& input) {
    if (scope_.values.contains(input.name())) return;            // bound
    if (state_.options.bindings.contains(input.name())) return;  // reported
    const std::string object = fmt::format("input {}", input.name());
    const auto& type = input.type().tensor_type();
    if (!input.type().has_tensor_type() ||
        (type.elem_type() != onnx::TensorProto::UNDEFINED && !is_computable(type.elem_type()))) {
      good_ = false;  // check_types() has told
      return;
    }
    const auto element = element_type_of(type.elem_type());
    if (!element) {
      fail("wrong-type", object, "has no element type", "export the model with the types of its inputs");
      return;
    }
    if (!type.has_shape()) {
      fail("unknown-shape", object, "has no shape, not even a number of dimensions",
           fmt::format("export the model with the shapes of its inputs, or give a value: --bind {}=FILE.npy",
                       input.name()));
      return;
    }
    if (type.shape().dim_size() > max_rank) {
      fail("tensor-too-large", object,
           fmt::format("has {} dimensions; at most {} are read", type.shape().dim_size(), max_rank), "join dimensions");
      return;
    }
    Shape shape;
    bool complete = true;
    for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
      const std::string name = dimension_name(input, axis);
      const auto size = sizes_.find(name);
      if (name.empty()) {
        shape.push_back(type.shape().dim(axis).dim_value());
      } else if (size != sizes_.end()) {
        shape.push_back(size->second);
      } else {
        complete = false;
        missing_.try_emplace(name, fmt::format("axis {} of input {}", axis, input.name()));
      }
    }
    if (!complete) return;
    if (!count_within_limit(shape)) {
      fail("tensor-too-large", object,
           fmt::format("its shape {} has more than {} elements", to_text(shape), max_elements_text),
           std::string(too_large_remedy));
      return;
    }
    auto value = std::make_shared<Value>();
    value->name = input.name();
    value->type = *element;
    value->shape = shape;
    value->id = state_.builder.add_input(input.name(), *element, std::move(shape));
    scope_.values[input.name()] = std::move(value);
  }

  void report_missing_sizes() {
    if (missing_.empty()) return;
    std::vector<std::string> dimensions;
    std::vector<std::string> options;
    for (const auto& [name, where] : missing_) {
      dimensions.push_back(fmt::format("{} ({})", name, where));
      options.push_back(fmt::format("--dim {}=SIZE", name));
    }
    fail("dynamic-dimension", {},
         fmt::format("the network has dynamic dimensions, whose sizes must be given: {}", fmt::join(dimensions, ", ")),
         fmt::format("add {}", fmt::join(options, " ")));
  }

  void add_weights() {
    for (auto& proto : *state_.model.proto.mutable_graph()->mutable_initializer()) {
      if (!state_.used_names.contains(proto.name())) continue;  // nobody reads it: not even loaded
      if (!is_computable(proto.data_type())) {
        good_ = false;  // check_types() has told
        continue;
      }
      if (state_.stop.stop_requested()) {
        good_ = false;
        return;
      }
      auto tensor = take_tensor(proto, state_.model.folder, state_.model.location(), state_.diagnostics);
      if (!tensor) {
        good_ = false;
        continue;
      }
      auto value = std::make_shared<Value>();
      value->name = proto.name();
      value->type = tensor->type();
      value->shape = tensor->shape();
      value->constant = *std::move(tensor);
      scope_.values[proto.name()] = std::move(value);
    }
  }

  ImportState& state_;
  Scope& scope_;
  const onnx::GraphProto& graph_;
  std::map<std::string, std::int64_t> sizes_;
  std::set<std::string> weights_;
  std::map<std::string, std::string> missing_;  ///< name of a dimension without a size, and where it stands first
  bool good_ = true;
};

}  // namespace

Result<std::vector<NetworkInput>> declared_inputs(const Model& model, Diagnostics& diagnostics) {
  const onnx::GraphProto& graph = model.proto.graph();
  std::set<std::string> weights;
  for (const auto& tensor : graph.initializer()) weights.insert(tensor.name());
  std::vector<NetworkInput> inputs;
  bool good = true;
  for (const auto& info : graph.input()) {
    if (weights.contains(info.name())) continue;
    const auto type = element_type_of(info.type().tensor_type().elem_type());
    if (!info.type().has_tensor_type() || !type) {
      good = false;
      diagnostics.error("unsupported-type", model.location(fmt::format("input {}", info.name())),
                        info.type().has_tensor_type()
                            ? fmt::format("holds {} elements", onnx_type_name(info.type().tensor_type().elem_type()))
                            : "is not a tensor",
                        "convert the network to tensors of float32");
      continue;
    }
    NetworkInput input{info.name(), *type, {}};
    const auto& shape = info.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      const std::string name = dimension_name(info, axis);
      input.dimensions.push_back(name.empty() ? std::to_string(shape.dim(axis).dim_value()) : name);
    }
    inputs.push_back(std::move(input));
  }
  if (!good) return Failed{};
  return inputs;
}

bool add_inputs_and_weights(ImportState& state, Scope& scope) { return NetworkInputs(state, scope).run(); }

}  // namespace stowage::onnx_import
