// SPDX-License-Identifier: Apache-2.0
#include "core/graph.h"

#include <algorithm>
#include <queue>
#include <set>

#include <fmt/format.h>

#include "core/graph_boost.h"

namespace stowage {

Graph::Graph() : storage_(std::make_shared<const GraphStorage>()) {}

const std::string& Graph::name() const { return storage_->name; }
std::span<const Operator> Graph::operators() const { return storage_->operators; }
std::span<const GraphTensor> Graph::tensors() const { return storage_->tensors; }
std::span<const TensorId> Graph::inputs() const { return storage_->inputs; }
std::span<const TensorId> Graph::outputs() const { return storage_->outputs; }

std::optional<TensorId> Graph::find_tensor(std::string_view name) const {
  const auto found = storage_->tensor_by_name.find(std::string(name));
  if (found == storage_->tensor_by_name.end()) return std::nullopt;
  return found->second;
}

std::optional<OpId> Graph::find_operator(std::string_view name) const {
  const auto found = storage_->operator_by_name.find(std::string(name));
  if (found == storage_->operator_by_name.end()) return std::nullopt;
  return found->second;
}

GraphBuilder::GraphBuilder(std::string name) : storage_(std::make_shared<GraphStorage>()) {
  storage_->name = std::move(name);
}

GraphBuilder::GraphBuilder(const Graph& graph) : storage_(std::make_shared<GraphStorage>(graph.storage())) {}

namespace {

TensorId add_tensor(GraphStorage& storage, GraphTensor tensor) {
  const TensorId id(storage.tensors.size());
  const bool is_new = storage.tensor_by_name.emplace(tensor.name, id).second;
  check(is_new, fmt::format("tensor name '{}' is taken", tensor.name));
  storage.tensors.push_back(std::move(tensor));
  return id;
}

}  // namespace

TensorId GraphBuilder::add_input(std::string name, ElementType type, Shape shape) {
  GraphTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.is_input = true;
  const TensorId id = add_tensor(*storage_, std::move(tensor));
  storage_->inputs.push_back(id);
  return id;
}

TensorId GraphBuilder::add_constant(std::string name, Tensor value) {
  GraphTensor tensor;
  tensor.name = std::move(name);
  tensor.type = value.type();
  tensor.shape = value.shape();
  tensor.constant = std::move(value);
  return add_tensor(*storage_, std::move(tensor));
}

TensorId GraphBuilder::add_storage(std::string name, ElementType type, Shape shape) {
  GraphTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  return add_tensor(*storage_, std::move(tensor));
}

OpId GraphBuilder::add_operator(std::string kind, std::string name, Attributes attributes,
                                std::vector<std::optional<TensorId>> inputs, std::string output_name,
                                ElementType output_type, Shape output_shape, std::vector<std::string> origins) {
  return add_operator(std::move(kind), std::move(name), std::move(attributes), std::move(inputs),
                      {OutputTensor{std::move(output_name), output_type, std::move(output_shape)}}, std::move(origins));
}

OpId GraphBuilder::add_operator(std::string kind, std::string name, Attributes attributes,
                                std::vector<std::optional<TensorId>> inputs,
                                std::vector<std::optional<OutputTensor>> outputs, std::vector<std::string> origins) {
  const OpId id(storage_->operators.size());
  check(!outputs.empty() && outputs.front(), "an operator without its first output");
  Operator op;
  op.kind = std::move(kind);
  op.name = std::move(name);
  op.attributes = std::move(attributes);
  op.inputs = std::move(inputs);
  for (auto& made : outputs) {
    op.outputs.emplace_back();
    if (!made) continue;
    GraphTensor output;
    output.name = std::move(made->name);
    output.type = made->type;
    output.shape = std::move(made->shape);
    output.producer = id;
    op.outputs.back() = add_tensor(*storage_, std::move(output));
  }
  op.origins = std::move(origins);
  const bool is_new = storage_->operator_by_name.emplace(op.name, id).second;
  check(is_new, fmt::format("operator name '{}' is taken", op.name));
  const auto vertex = boost::add_vertex(storage_->boost);
  check(vertex == id.index(), "vertex index differs from the operator's");
  for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
    if (!op.inputs[slot]) continue;
    GraphTensor& operand = storage_->tensors[op.inputs[slot]->index()];
    if (operand.consumers.empty() || operand.consumers.back() != id) operand.consumers.push_back(id);
    if (operand.producer) {
      boost::add_edge(operand.producer->index(), vertex, GraphEdge{*op.inputs[slot], static_cast<int>(slot)},
                      storage_->boost);
    }
  }
  storage_->operators.push_back(std::move(op));
  return id;
}

void GraphBuilder::mark_output(TensorId tensor) {
  storage_->tensors[tensor.index()].is_output = true;
  storage_->outputs.push_back(tensor);
}

void GraphBuilder::place(TensorId tensor, std::optional<StorageBox> inside) {
  storage_->tensors[tensor.index()].inside = std::move(inside);
}

std::string GraphBuilder::unique_name(std::string wanted) const {
  const auto taken = [&](const std::string& name) {
    return storage_->tensor_by_name.contains(name) || storage_->operator_by_name.contains(name);
  };
  if (!taken(wanted)) return wanted;
  for (int number = 2;; ++number) {
    std::string numbered = fmt::format("{}_{}", wanted, number);
    if (!taken(numbered)) return numbered;
  }
}

const GraphTensor& GraphBuilder::tensor(TensorId id) const { return storage_->tensors[id.index()]; }

const Operator& GraphBuilder::op(OpId id) const { return storage_->operators[id.index()]; }

Graph GraphBuilder::build() && {
  Graph graph;
  graph.storage_ = std::move(storage_);
  return graph;
}

std::vector<TensorId> outputs_of(const Operator& op) {
  std::vector<TensorId> found;
  for (const auto& output : op.outputs) {
    if (output) found.push_back(*output);
  }
  return found;
}

std::vector<std::optional<OutputTensor>> output_tensors(const Graph& graph, const Operator& op) {
  std::vector<std::optional<OutputTensor>> outputs;
  for (const auto& output : op.outputs) {
    outputs.emplace_back();
    if (!output) continue;
    const GraphTensor& tensor = graph.tensor(*output);
    outputs.back() = OutputTensor{tensor.name, tensor.type, tensor.shape};
  }
  return outputs;
}

bool makes_network_output(const Graph& graph, OpId op) {
  const std::vector<TensorId> outputs = outputs_of(graph.op(op));
  return std::any_of(outputs.begin(), outputs.end(), [&](TensorId output) { return graph.tensor(output).is_output; });
}

std::vector<OpId> readers_of(const Graph& graph, OpId op) {
  if (graph.op(op).outputs.size() == 1) return graph.tensor(graph.op(op).first_output()).consumers;
  std::set<OpId> readers;
  for (const TensorId output : outputs_of(graph.op(op))) {
    const std::vector<OpId>& consumers = graph.tensor(output).consumers;
    readers.insert(consumers.begin(), consumers.end());
  }
  return {readers.begin(), readers.end()};
}

std::vector<OpId> topological_order(const Graph& graph) {
  // Kahn's algorithm with the lowest id first; boost::topological_sort leaves the choice among ready vertices open.
  const BoostGraph& boost_graph = graph.storage().boost;
  std::vector<std::size_t> waiting(graph.operators().size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t v = 0; v < waiting.size(); ++v) {
    waiting[v] = boost::in_degree(v, boost_graph);
    if (waiting[v] == 0) ready.push(v);
  }
  std::vector<OpId> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    const std::size_t v = ready.top();
    ready.pop();
    order.emplace_back(v);
    for (const auto edge : boost::make_iterator_range(boost::out_edges(v, boost_graph))) {
      const std::size_t target = boost::target(edge, boost_graph);
      if (--waiting[target] == 0) ready.push(target);
    }
  }
  check(order.size() == waiting.size(), "the graph has a cycle");
  return order;
}

}  // namespace stowage
