// SPDX-License-Identifier: Apache-2.0
#include "fusion/fold/graph_copy.h"

#include <utility>

#include <fmt/format.h>

namespace stowage {

GraphCopy::GraphCopy(const Graph& original) : original_(original), builder_(original.name()) {
  for (const TensorId input : original_.inputs()) {
    const GraphTensor& tensor = original_.tensor(input);
    new_of_[input] = builder_.add_input(tensor.name, tensor.type, tensor.shape);
  }
}

TensorId GraphCopy::operand(TensorId old) {
  const auto found = new_of_.find(old);
  if (found != new_of_.end()) return found->second;
  const GraphTensor& tensor = original_.tensor(old);
  check(tensor.constant.has_value(), "an operand is not there yet");
  return new_of_[old] = builder_.add_constant(tensor.name, *tensor.constant);
}

std::vector<std::optional<TensorId>> GraphCopy::operands_of(const Operator& op) {
  std::vector<std::optional<TensorId>> operands;
  for (const auto& old : op.inputs) operands.push_back(old ? std::optional(operand(*old)) : std::nullopt);
  return operands;
}

void GraphCopy::add_unchanged(const Operator& op) {
  const OpId id = builder_.add_operator(op.kind, op.name, op.attributes, operands_of(op), output_tensors(original_, op),
                                        op.origins);
  for (std::size_t slot = 0; slot < op.outputs.size(); ++slot) {
    if (op.outputs[slot]) new_of_[*op.outputs[slot]] = builder_.op(id).outputs[slot].value();
  }
}

TensorId GraphCopy::add(const std::string& kind, const std::string& name, Attributes attributes,
                        std::vector<std::optional<TensorId>> operands, OutputTensor result,
                        std::vector<std::string> origins) {
  const OpId id = builder_.add_operator(kind, name, std::move(attributes), std::move(operands), std::move(result.name),
                                        result.type, std::move(result.shape), std::move(origins));
  return builder_.op(id).first_output();
}

TensorId GraphCopy::add_reshape(TensorId from, const std::string& name, const std::string& result, const Shape& shape) {
  return add("Reshape", name, {{"shape", shape}}, {from}, {result, builder_.tensor(from).type, shape}, {});
}

std::string GraphCopy::new_name(const std::string& wanted) const {
  std::string name = builder_.unique_name(wanted);
  for (int number = 2; original_.find_tensor(name) || original_.find_operator(name); ++number) {
    name = builder_.unique_name(fmt::format("{}_{}", wanted, number));
  }
  return name;
}

Graph GraphCopy::build() && {
  for (const TensorId output : original_.outputs()) builder_.mark_output(operand(output));
  return std::move(builder_).build();
}

}  // namespace stowage
