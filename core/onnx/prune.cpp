// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/prune.h"

#include <algorithm>

namespace stowage::onnx_import {
namespace {

std::vector<bool> needed_operators(const Graph& graph) {
  std::vector<bool> needed(graph.operators().size(), false);
  const auto need = [&](TensorId tensor) {
    if (const auto producer = graph.tensor(tensor).producer) needed[producer->index()] = true;
  };
  for (const TensorId output : graph.outputs()) need(output);
  for (std::size_t index = needed.size(); index-- > 0;) {  // operands come before their readers
    if (!needed[index]) continue;
    for (const auto& operand : graph.op(OpId(index)).inputs) {
      if (operand) need(*operand);
    }
  }
  return needed;
}

/// Its outputs but those beside the first that nothing needed reads.
std::vector<std::optional<OutputTensor>> needed_outputs(const Graph& graph, const Operator& op,
                                                        const std::vector<bool>& needed) {
  auto outputs = output_tensors(graph, op);
  for (std::size_t slot = 1; slot < outputs.size(); ++slot) {
    if (!op.outputs[slot]) continue;
    const GraphTensor& tensor = graph.tensor(*op.outputs[slot]);
    const bool is_read = std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                     [&](OpId reader) { return needed[reader.index()]; });
    if (!is_read && !tensor.is_output) outputs[slot].reset();
  }
  while (!outputs.back()) outputs.pop_back();
  return outputs;
}

}  // namespace

Graph without_unused(const Graph& graph) {
  const std::vector<bool> needed = needed_operators(graph);
  GraphBuilder builder(graph.name());
  std::vector<std::optional<TensorId>> moved(graph.tensors().size());
  for (const TensorId input : graph.inputs()) {
    const GraphTensor& tensor = graph.tensor(input);
    moved[input.index()] = builder.add_input(tensor.name, tensor.type, tensor.shape);
  }
  for (std::size_t index = 0; index < needed.size(); ++index) {
    if (!needed[index]) continue;
    const Operator& op = graph.op(OpId(index));
    std::vector<std::optional<TensorId>> operands;
    for (const auto& operand : op.inputs) {
      operands.emplace_back();
      if (!operand) continue;
      auto& at = moved[operand->index()];
      const GraphTensor& tensor = graph.tensor(*operand);
      if (!at) at = builder.add_constant(tensor.name, tensor.constant.value());
      operands.back() = at;
    }
    const OpId added = builder.add_operator(op.kind, op.name, op.attributes, std::move(operands),
                                            needed_outputs(graph, op, needed), op.origins);
    for (std::size_t slot = 0; slot < op.outputs.size(); ++slot) {
      if (slot < builder.op(added).outputs.size() && op.outputs[slot])
        moved[op.outputs[slot]->index()] = builder.op(added).outputs[slot];
    }
  }
  for (const TensorId output : graph.outputs()) builder.mark_output(moved[output.index()].value());
  return std::move(builder).build();
}

}  // namespace stowage::onnx_import
