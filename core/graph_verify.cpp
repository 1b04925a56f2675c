// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/graph.h"
#include "core/graph_boost.h"
#include "core/operators.h"
#include "core/storage_box.h"

namespace stowage {
namespace {

using Broken = std::optional<std::string>;

class GraphVerifier {
 public:
  explicit GraphVerifier(const Graph& graph) : graph_(graph) {}

  Broken run() {
    if (auto broken = tensors()) return broken;
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) {
      if (auto broken = operation(OpId(i))) return fmt::format("operator {}: {}", graph_.op(OpId(i)).name, *broken);
    }
    return edges();
  }

 private:
  [[nodiscard]] bool exists(TensorId id) const { return id.index() < graph_.tensors().size(); }

  Broken tensors() const {
    std::set<std::string> names;
    const auto& inputs = graph_.inputs();
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      const TensorId id(i);
      const GraphTensor& tensor = graph_.tensor(id);
      if (!names.insert(tensor.name).second) return fmt::format("two tensors are named {}", tensor.name);
      const int sources = (tensor.is_input ? 1 : 0) + (tensor.constant ? 1 : 0) + (tensor.producer ? 1 : 0);
      const bool is_used = !tensor.consumers.empty() || tensor.is_output;
      if (sources == 0 && is_used) return fmt::format("storage {} is used as if it had a value", tensor.name);
      if (sources > 1) return fmt::format("tensor {} has {} sources, one at most was wanted", tensor.name, sources);
      if (tensor.constant && (tensor.constant->type() != tensor.type || tensor.constant->shape() != tensor.shape)) {
        return fmt::format("constant {} has another type or shape than its value", tensor.name);
      }
      if (!checked_element_count(tensor.shape)) return fmt::format("tensor {} has no valid shape", tensor.name);
      if (tensor.is_input != (std::find(inputs.begin(), inputs.end(), id) != inputs.end())) {
        return fmt::format("tensor {} is an input by its own account or by the graph's, not by both", tensor.name);
      }
      if (tensor.producer && (tensor.producer->index() >= graph_.operators().size() || !makes(*tensor.producer, id))) {
        return fmt::format("tensor {} is not the output of its producer", tensor.name);
      }
      std::vector<OpId> readers;
      for (std::size_t o = 0; o < graph_.operators().size(); ++o) {
        const auto& operands = graph_.op(OpId(o)).inputs;
        if (std::find(operands.begin(), operands.end(), id) != operands.end()) readers.emplace_back(o);
      }
      if (readers != tensor.consumers) return fmt::format("tensor {} does not list its consumers", tensor.name);
      if (!tensor.inside) continue;
      if (!exists(tensor.inside->storage)) return fmt::format("tensor {} lies in none", tensor.name);
      if (auto broken = broken_box(tensor, graph_.tensor(tensor.inside->storage))) return broken;
    }
    for (const TensorId output : graph_.outputs()) {
      if (!exists(output) || !graph_.tensor(output).is_output) return "an output is no tensor marked as one";
    }
    return std::nullopt;
  }

  [[nodiscard]] bool makes(OpId op, TensorId tensor) const {
    const std::vector<TensorId> outputs = outputs_of(graph_.op(op));
    return std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
  }

  Broken operation(OpId id) {
    const Operator& op = graph_.op(id);
    if (!operator_names_.insert(op.name).second) return "its name is taken";
    std::vector<std::optional<StageTensor>> operands;
    for (const auto& input : op.inputs) {
      if (!input) {
        operands.emplace_back();
        continue;
      }
      if (!exists(*input)) return "an operand does not exist";
      const GraphTensor& tensor = graph_.tensor(*input);
      if (tensor.producer && tensor.producer->index() >= id.index()) {
        return fmt::format("operand {} is produced after it", tensor.name);
      }
      operands.push_back(StageTensor{tensor.name, tensor.type, tensor.shape,
                                     tensor.constant ? TensorRole::constant : TensorRole::input, tensor.constant,
                                     *input});
    }
    if (op.outputs.empty() || !op.outputs.front()) return "it lacks its first output";
    std::set<TensorId> outputs;
    for (const TensorId output : outputs_of(op)) {
      if (!exists(output) || graph_.tensor(output).producer != id) return "its output is not its own";
      if (!outputs.insert(output).second) return "two of its outputs are one tensor";
    }
    if (find_operator_row(op.kind) == nullptr) return fmt::format("there is no operator kind {}", op.kind);
    Diagnostics diagnostics;
    const auto definition = define_operator(op, operands, {}, diagnostics);
    if (!definition) {
      return diagnostics.entries().empty() ? "it has no definition" : diagnostics.entries().front().message;
    }
    for (std::size_t slot = 0; slot < op.outputs.size(); ++slot) {
      if (!op.outputs[slot]) continue;
      const StageTensor& derived = result_tensor(*definition, slot);
      const GraphTensor& output = graph_.tensor(*op.outputs[slot]);
      if (derived.type != output.type || derived.shape != output.shape) {
        return fmt::format("its output {} is {}{}, the operator table says {}{}", output.name, name_of(output.type),
                           to_text(output.shape), name_of(derived.type), to_text(derived.shape));
      }
    }
    return std::nullopt;
  }

  /// The Boost graph tells the same as the operand lists.
  Broken edges() const {
    const BoostGraph& boost_graph = graph_.storage().boost;
    if (boost::num_vertices(boost_graph) != graph_.operators().size()) return "not every operator is a vertex";
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) {
      std::vector<std::pair<int, TensorId>> wanted, found;
      const Operator& op = graph_.op(OpId(i));
      for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
        const auto& input = op.inputs[slot];
        if (input && graph_.tensor(*input).producer) wanted.emplace_back(static_cast<int>(slot), *input);
      }
      for (const auto edge : boost::make_iterator_range(boost::in_edges(i, boost_graph))) {
        const GraphEdge& label = boost_graph[edge];
        if (graph_.tensor(label.tensor).producer != OpId(boost::source(edge, boost_graph))) {
          return fmt::format("an edge into {} comes from the wrong operator", op.name);
        }
        found.emplace_back(label.slot, label.tensor);
      }
      std::sort(found.begin(), found.end());
      if (found != wanted) return fmt::format("the edges into {} are not its operands", op.name);
    }
    return std::nullopt;
  }

  const Graph& graph_;
  std::set<std::string> operator_names_;
};

}  // namespace

std::optional<std::string> verify(const Graph& graph) { return GraphVerifier(graph).run(); }

}  // namespace stowage
