// SPDX-License-Identifier: Apache-2.0
#include "tests/onnx/seeded_weights.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/operators.h"

namespace stowage::test {
namespace {

bool is_blank(const Tensor& tensor) {
  if (tensor.type() != ElementType::f32 || tensor.size() < 2) return false;
  const auto values = tensor.as<float>();
  return std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; });
}

struct Range {
  double centre = 0;
  double width = 0.1;  ///< half of it
};

/// Where the values of operand `slot` of an operator should lie.
Range range_of(const Operator& op, std::size_t slot, const Shape& shape) {
  const auto by_fan_in = [](std::int64_t fan_in) {
    return Range{0, std::sqrt(6.0 / static_cast<double>(std::max<std::int64_t>(1, fan_in)))};
  };
  if (op.kind == "Conv" && slot == 1) return by_fan_in(element_count(shape) / shape[0]);
  if (op.kind == "ConvTranspose" && slot == 1) return by_fan_in(element_count(shape) / shape[1]);
  if (op.kind == "Gemm" && slot == 1) {
    return by_fan_in(shape[int_attribute(op.attributes, "transB", 0) != 0 ? 1 : 0]);
  }
  if (op.kind == "MatMul" && shape.size() >= 2) return by_fan_in(shape[shape.size() - (slot == 1 ? 2 : 1)]);
  if (op.kind == "BatchNormalization" && (slot == 1 || slot == 4)) return {1, 0.3};
  if (op.kind == "LayerNormalization" && slot == 1) return {1, 0.3};
  return {};
}

Tensor seeded(const Shape& shape, const Range& range, std::mt19937& random) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) {
    const double unit = static_cast<double>(random()) / 4294967296.0;  // the same on every standard library
    value = static_cast<float>(range.centre + range.width * (2 * unit - 1));
  }
  return Tensor::of_floats(shape, values);
}

}  // namespace

Graph with_seeded_weights(const Graph& graph, std::uint32_t seed) {
  GraphBuilder builder(graph.name());
  std::vector<std::optional<TensorId>> moved(graph.tensors().size());
  for (const TensorId input : graph.inputs()) {
    const GraphTensor& tensor = graph.tensor(input);
    moved[input.index()] = builder.add_input(tensor.name, tensor.type, tensor.shape);
  }
  std::mt19937 random(seed);
  for (const Operator& op : graph.operators()) {
    std::vector<std::optional<TensorId>> operands;
    for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
      operands.emplace_back();
      if (!op.inputs[slot]) continue;
      auto& at = moved[op.inputs[slot]->index()];
      const GraphTensor& tensor = graph.tensor(*op.inputs[slot]);
      if (!at) {
        const Tensor& value = tensor.constant.value();
        at = builder.add_constant(
            tensor.name, is_blank(value) ? seeded(tensor.shape, range_of(op, slot, tensor.shape), random) : value);
      }
      operands.back() = at;
    }
    const GraphTensor& output = graph.tensor(op.first_output());
    const OpId added = builder.add_operator(op.kind, op.name, op.attributes, std::move(operands), output.name,
                                            output.type, output.shape, op.origins);
    moved[op.first_output().index()] = builder.op(added).first_output();
  }
  for (const TensorId output : graph.outputs()) builder.mark_output(moved[output.index()].value());
  return std::move(builder).build();
}

}  // namespace stowage::test
