// SPDX-License-Identifier: Apache-2.0
#include "fusion/groups/fused_graph.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/storage_box.h"
#include "fusion/facts/views.h"
#include "fusion/groups/group.h"
#include "fusion/groups/horizontal_fusion.h"
#include "fusion/templates/template.h"

namespace stowage {
namespace {

class FusedVerifier {
 public:
  explicit FusedVerifier(const FusedGraph& fused) : graph_(fused.graph), groups_(fused.groups) {}

  std::optional<std::string> run() {
    computed_.assign(graph_.tensors().size(), false);
    for (std::size_t t = 0; t < computed_.size(); ++t) computed_[t] = !graph_.tensors()[t].producer;
    std::set<std::string> names;
    for (const FusedOperator& group : groups_) {
      if (!names.insert(group.name).second) return fmt::format("two groups are called {}", group.name);
      if (auto problem = check_group(group)) return fmt::format("group {}: {}", group.name, *problem);
      for (const TensorId result : results_of(group)) computed_[result.index()] = true;
    }
    for (std::size_t op = 0; op < graph_.operators().size(); ++op) {
      if (!taken_.contains(OpId(op))) return fmt::format("no group holds {}", graph_.operators()[op].name);
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> check_group(const FusedOperator& group) {
    if (group.operators.empty()) return "it has no operator";
    if (group.roles.size() != group.operators.size()) {
      return fmt::format("{} roles for {} operators", group.roles.size(), group.operators.size());
    }
    for (const std::string& role : group.roles) {
      if (!is_role(role)) return fmt::format("there is no role '{}'", role);
    }
    const std::set<OpId> members(group.operators.begin(), group.operators.end());
    const std::vector<TensorId> results = results_of(group);
    std::set<OpId> earlier;
    for (const OpId id : group.operators) {
      if (id.index() >= graph_.operators().size()) return "it holds an operator that is not in the graph";
      const Operator& op = graph_.op(id);
      if (!taken_.insert(id).second) return fmt::format("{} is held twice", op.name);
      for (const auto& operand : op.inputs) {
        if (!operand) continue;
        const auto& producer = graph_.tensor(*operand).producer;
        if (producer && members.contains(*producer) && !earlier.contains(*producer)) {
          return fmt::format("{} comes before {}, whose result it reads", op.name, graph_.op(*producer).name);
        }
      }
      earlier.insert(id);
      if (!is_horizontal(group) && id == group.operators.back()) continue;  // check_results
      for (const TensorId output : outputs_of(op)) {
        if (std::find(results.begin(), results.end(), output) != results.end()) continue;
        if (auto problem = check_inner(output, members)) return problem;
      }
    }
    if (auto problem = check_results(group, members)) return problem;
    if (auto problem = check_name_and_template(group)) return problem;
    if (auto problem = broken_stacks(graph_, group)) return problem;
    if (group.inputs != outside_inputs(graph_, group.operators)) return "its inputs are not what it reads from outside";
    for (const TensorId input : group.inputs) {
      // Every input computed by an earlier group: this gives order and convexity at once.
      if (!computed_[input.index()])
        return fmt::format("it reads {} before a group has written it", graph_.tensor(input).name);
    }
    return std::nullopt;
  }

  /// A view is an operator alone that is in place, and has no kernel.
  std::optional<std::string> check_name_and_template(const FusedOperator& group) const {
    if (std::none_of(group.operators.begin(), group.operators.end(),
                     [&](OpId op) { return graph_.op(op).name == group.name; })) {
      return "it is named after none of its operators";
    }
    const bool is_alone = group.operators.size() == 1;
    const bool is_view = is_alone && is_in_place(graph_, group.operators.front());
    if (is_view == group.is_view) return std::nullopt;
    return is_view ? "it is a view, and not marked as one" : "it is marked as a view, and is none";
  }

  std::optional<std::string> check_results(const FusedOperator& group, const std::set<OpId>& members) const {
    const bool is_stacked = !group.parameters.empty() || std::any_of(group.results.begin(), group.results.end(),
                                                                     [](const TensorStack& r) { return r.joins(); });
    if (!is_horizontal(group) && !is_stacked &&
        group.results != results_of_operator(graph_.op(group.operators.back()))) {
      return outputs_of(graph_.op(group.operators.back())).size() == 1 ? "its output is not its last operator's"
                                                                       : "its outputs are not its last operator's";
    }
    for (const TensorId result : results_of(group)) {
      const auto& producer = graph_.tensor(result).producer;
      if (!producer || !members.contains(*producer)) return "a result of branches is not one of its operators'";
    }
    for (const auto* stacks : {&group.parameters, &group.results}) {
      for (const TensorStack& stack : *stacks) {
        if (!stack.joins()) continue;
        if (auto problem = check_stack(stack)) return problem;
      }
    }
    return std::nullopt;
  }

  /// Extents add up, and results lie in the memory of the whole.
  std::optional<std::string> check_stack(const TensorStack& stack) const {
    const GraphTensor& whole = graph_.tensor(stack.whole);
    StorageBox place = box_of(graph_, stack.whole);
    Shape sum = whole.shape;
    if (stack.axis >= sum.size()) return fmt::format("{} has no dimension {}", whole.name, stack.axis);
    sum[stack.axis] = 0;
    for (const TensorId id : stack.parts) {
      const GraphTensor& part = graph_.tensor(id);
      if (part.shape.size() != sum.size()) return fmt::format("{} does not fit into {}", part.name, whole.name);
      if (!whole.constant && !same_box(part.shape, box_of(graph_, id), place)) {
        return fmt::format("{} does not lie in its place in {}", part.name, whole.name);
      }
      place.offset += part.shape[stack.axis] * place.strides[stack.axis];
      sum[stack.axis] += part.shape[stack.axis];
    }
    if (sum != whole.shape) return fmt::format("the parts of {} do not make it up", whole.name);
    return std::nullopt;
  }

  std::optional<std::string> check_inner(TensorId output, const std::set<OpId>& members) const {
    const GraphTensor& result = graph_.tensor(output);
    if (result.is_output) return fmt::format("{} stays inside, but is an output of the network", result.name);
    if (result.consumers.empty()) return fmt::format("{} is read by nobody", result.name);
    for (const OpId reader : result.consumers) {
      if (!members.contains(reader)) {
        return fmt::format("{} stays inside, but {} reads it", result.name, graph_.op(reader).name);
      }
    }
    return std::nullopt;
  }

  const Graph& graph_;
  const std::vector<FusedOperator>& groups_;
  std::set<OpId> taken_;
  std::vector<bool> computed_;
};

}  // namespace

std::optional<std::string> verify(const FusedGraph& fused) { return FusedVerifier(fused).run(); }

std::vector<TensorId> results_of(const FusedOperator& group) {
  std::vector<TensorId> results;
  for (const TensorStack& result : group.results)
    results.insert(results.end(), result.parts.begin(), result.parts.end());
  return results;
}

std::vector<TensorId> stored_by(const FusedOperator& group) {
  std::vector<TensorId> stored;
  for (const TensorStack& result : group.results) stored.push_back(result.whole);
  return stored;
}

std::vector<TensorStack> results_of_operator(const Operator& op) {
  std::vector<TensorStack> results;
  for (const TensorId output : outputs_of(op)) results.push_back({output, {output}});
  return results;
}

std::string to_text(const FusedGraph& fused) {
  const Graph& graph = fused.graph;
  std::string text =
      fmt::format("{}: {} operators in {} groups\n", graph.name(), graph.operators().size(), fused.groups.size());
  for (const FusedOperator& group : fused.groups) {
    std::vector<std::string> members;
    for (std::size_t i = 0; i < group.operators.size(); ++i) {
      const Operator& op = graph.op(group.operators[i]);
      members.push_back(fmt::format("{} {} ({})", op.kind, op.name, group.roles[i]));
    }
    std::vector<std::string> inputs;
    for (const TensorId input : group.inputs) inputs.push_back(graph.tensor(input).name);
    std::vector<std::string> stored;
    for (const TensorId tensor : stored_by(group)) stored.push_back(graph.tensor(tensor).name);
    text += fmt::format("{}: {} ({}) -> {}\n", group.name, group.template_name, fmt::join(inputs, ", "),
                        fmt::join(stored, ", "));
    for (const std::string& member : members) text += fmt::format("  {}\n", member);
  }
  return text;
}

}  // namespace stowage
