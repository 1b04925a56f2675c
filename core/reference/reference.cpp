// SPDX-License-Identifier: Apache-2.0
#include "core/reference/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/evaluate.h"
#include "core/operators.h"
#include "core/reference/onednn.h"

namespace stowage {

std::vector<Tensor> run_operator(const Graph& graph, OpId id, std::span<const std::optional<Tensor>> inputs,
                                 ReferenceMode mode) {
  const Operator& op = graph.op(id);
  check(inputs.size() == op.inputs.size(), "operand values do not fit the operator's slots");
  // Constants are known to the graph already; what is given for their slots is not looked at.
  std::vector<std::optional<Tensor>> operands(inputs.begin(), inputs.end());
  std::vector<Tensor> values;
  for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
    if (!op.inputs[slot]) continue;
    const GraphTensor& tensor = graph.tensor(*op.inputs[slot]);
    if (tensor.constant) {
      operands[slot] = tensor.constant;
      continue;
    }
    check(operands[slot].has_value(), fmt::format("operator {} runs without its operand {}", op.name, slot));
    values.push_back(*operands[slot]);
  }
  const GraphTensor& output = graph.tensor(op.first_output());
  const OperatorDefinition definition = define_operator(graph, id);
  if (mode == ReferenceMode::onednn && outputs_of(op).size() == 1) {
    if (definition.is_view) return {operands.front()->reshaped(output.shape)};
    if (auto result = reference::run_by_onednn({op, operands, output.type, output.shape})) return {*std::move(result)};
  }
  IdVector<StageTensorId, Tensor> computed = evaluate(definition.list, values);
  std::vector<Tensor> results;
  for (std::size_t slot = 0; slot < op.outputs.size(); ++slot) {
    if (op.outputs[slot]) results.push_back(std::move(computed[*definition.results.at(slot)]));
  }
  return results;
}

std::vector<Tensor> run_reference(const Graph& graph, std::span<const Tensor> inputs, ReferenceMode mode,
                                  const std::function<void(TensorId, const Tensor&)>& on_value, std::stop_token stop,
                                  const ProgressSink& progress) {
  check(inputs.size() == graph.inputs().size(), "input values do not fit the network's inputs");
  std::vector<std::optional<Tensor>> values(graph.tensors().size());
  std::vector<std::size_t> uses(graph.tensors().size());
  for (std::size_t t = 0; t < values.size(); ++t) {
    const GraphTensor& tensor = graph.tensor(TensorId(t));
    values[t] = tensor.constant;
    uses[t] = tensor.consumers.size() + (tensor.is_output ? 1 : 0);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const GraphTensor& tensor = graph.tensor(graph.inputs()[i]);
    check(inputs[i].type() == tensor.type && inputs[i].shape() == tensor.shape,
          fmt::format("input {} is {}{}, {}{} was given", tensor.name, name_of(tensor.type), to_text(tensor.shape),
                      name_of(inputs[i].type()), to_text(inputs[i].shape())));
    values[graph.inputs()[i].index()] = inputs[i];
  }
  std::size_t done = 0;
  for (const OpId id : topological_order(graph)) {
    if (stop.stop_requested()) return {};
    if (progress) progress("reference", done++, graph.operators().size());
    const Operator& op = graph.op(id);
    std::vector<std::optional<Tensor>> operands(op.inputs.size());
    std::set<TensorId> used;  // one tensor may fill two slots
    for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
      if (!op.inputs[slot]) continue;
      operands[slot] = values[op.inputs[slot]->index()];
      used.insert(*op.inputs[slot]);
    }
    std::vector<Tensor> results = run_operator(graph, id, operands, mode);
    const std::vector<TensorId> made = outputs_of(op);
    for (std::size_t r = 0; r < made.size(); ++r) {
      if (on_value) on_value(made[r], results[r]);
      if (uses[made[r].index()] > 0) values[made[r].index()] = std::move(results[r]);
    }
    for (const TensorId tensor : used) {
      if (--uses[tensor.index()] == 0) values[tensor.index()].reset();
    }
  }
  std::vector<Tensor> outputs;
  for (const TensorId output : graph.outputs()) outputs.push_back(values[output.index()].value());
  return outputs;
}

std::vector<Tensor> compute_from(const Graph& graph, const std::map<TensorId, Tensor>& known,
                                 std::span<const TensorId> wanted, ReferenceMode mode) {
  std::map<TensorId, Tensor> values = known;
  std::set<TensorId> needed;  // of operators that must run
  std::vector<TensorId> pending(wanted.begin(), wanted.end());
  while (!pending.empty()) {
    const TensorId id = pending.back();
    pending.pop_back();
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.constant) {
      values.emplace(id, *tensor.constant);
      continue;
    }
    if (values.contains(id) || !needed.insert(id).second) continue;
    check(tensor.producer.has_value(), fmt::format("the value of input {} is not known", tensor.name));
    for (const auto& operand : graph.op(*tensor.producer).inputs) {
      if (operand) pending.push_back(*operand);
    }
  }
  for (const OpId op : needed.empty() ? std::vector<OpId>{} : topological_order(graph)) {
    const std::vector<TensorId> made = outputs_of(graph.op(op));
    if (std::none_of(made.begin(), made.end(), [&](TensorId output) { return needed.contains(output); })) continue;
    std::vector<std::optional<Tensor>> operands;
    for (const auto& operand : graph.op(op).inputs) {
      operands.push_back(operand ? std::optional(values.at(*operand)) : std::nullopt);
    }
    std::vector<Tensor> results = run_operator(graph, op, operands, mode);
    for (std::size_t r = 0; r < made.size(); ++r) values.try_emplace(made[r], std::move(results[r]));
  }
  std::vector<Tensor> result;
  for (const TensorId id : wanted) result.push_back(values.at(id));
  return result;
}

}  // namespace stowage
