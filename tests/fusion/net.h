// SPDX-License-Identifier: Apache-2.0
// Small graphs for tests, written in one line an operator.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/graph.h"
#include "core/operators.h"
#include "fusion/facts/views.h"

namespace stowage::testing {

class Net {
 public:
  explicit Net(std::string name = "net", unsigned seed = 1) : builder_(std::move(name)), random_(seed) {}

  TensorId input(const std::string& name, Shape shape, ElementType type = ElementType::f32) {
    return builder_.add_input(name, type, std::move(shape));
  }

  /// Random values in [low, high).
  TensorId constant(const std::string& name, Shape shape, float low = -1, float high = 1) {
    return builder_.add_constant(name, random_tensor(std::move(shape), low, high));
  }

  TensorId constant(const std::string& name, Tensor value) { return builder_.add_constant(name, std::move(value)); }

  TensorId value(const std::string& name, Shape shape, const std::vector<float>& values) {
    return builder_.add_constant(name, Tensor::of_floats(std::move(shape), values));
  }

  /// The output tensor is called like the operator with "_out" behind it.
  TensorId op(const std::string& kind, const std::string& name, std::vector<std::optional<TensorId>> inputs,
              Attributes attributes = {}) {
    Diagnostics diagnostics;
    const auto output = append_operator(builder_, kind, name, std::move(attributes), std::move(inputs), name + "_out",
                                        {"node_" + name}, {}, diagnostics);
    check(static_cast<bool>(output), format_diagnostics(diagnostics));
    return *output;
  }

  /// An operator with several outputs, called NAME_0, NAME_1 ….
  std::vector<TensorId> several(const std::string& kind, const std::string& name,
                                std::vector<std::optional<TensorId>> inputs, std::size_t outputs,
                                Attributes attributes = {}) {
    std::vector<std::optional<std::string>> names;
    for (std::size_t slot = 0; slot < outputs; ++slot) names.emplace_back(name + "_" + std::to_string(slot));
    Diagnostics diagnostics;
    const auto op = append_operator(builder_, kind, name, std::move(attributes), std::move(inputs), std::move(names),
                                    {}, {}, diagnostics);
    check(static_cast<bool>(op), format_diagnostics(diagnostics));
    return outputs_of(builder_.op(*op));
  }

  TensorId conv(const std::string& name, TensorId x, std::int64_t features, std::int64_t kernel = 1,
                std::int64_t stride = 1) {
    const std::int64_t channels = builder_.tensor(x).shape[1];
    const TensorId w = constant(name + "_w", {features, channels, kernel, kernel});
    const std::int64_t pad = kernel / 2;
    return op("Conv", name, {x, w},
              {{"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
               {"strides", std::vector<std::int64_t>{stride, stride}}});
  }

  TensorId batch_norm(const std::string& name, TensorId x) {
    const std::int64_t c = builder_.tensor(x).shape[1];
    return op("BatchNormalization", name,
              {x, constant(name + "_scale", {c}), constant(name + "_bias", {c}), constant(name + "_mean", {c}),
               constant(name + "_var", {c}, 0.5, 2)});
  }

  [[nodiscard]] const Shape& shape(TensorId tensor) const { return builder_.tensor(tensor).shape; }

  /// Views are placed, as they are wherever a strategy sees a graph.
  Graph done(const std::vector<TensorId>& outputs) { return place_tensors(unplaced(outputs), {}, 4); }

  Graph unplaced(TensorId output) { return unplaced(std::vector<TensorId>{output}); }
  Graph unplaced(const std::vector<TensorId>& outputs) {
    for (const TensorId output : outputs) builder_.mark_output(output);
    return std::move(builder_).build();
  }

  Tensor random_tensor(Shape shape, float low = -1, float high = 1) {
    std::uniform_real_distribution<float> values(low, high);
    std::vector<float> elements(static_cast<std::size_t>(element_count(shape)));
    for (float& element : elements) element = values(random_);
    return Tensor::of_floats(std::move(shape), elements);
  }

 private:
  GraphBuilder builder_;
  std::mt19937 random_;
};

}  // namespace stowage::testing
