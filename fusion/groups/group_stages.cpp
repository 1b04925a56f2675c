// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "core/identifiers.h"
#include "core/operators.h"
#include "core/storage_box.h"
#include "fusion/facts/operator_facts.h"
#include "fusion/groups/fused_graph.h"
#include "fusion/groups/horizontal_fusion.h"
#include "fusion/groups/stage_composition.h"

namespace stowage {
namespace {

/// Puts the definitions of a group's operators into one list, over one table of tensors.
class Joiner {
 public:
  Joiner(const Graph& graph, const FusedOperator& group) : graph_(graph), group_(group) {
    // Boundary tensors first, so that they get the plain names.
    for (const TensorId input : group.inputs) {
      add_graph_tensor(input, graph.tensor(input).constant ? TensorRole::constant : TensorRole::input);
    }
    const std::vector<TensorId> stored = stored_by(group);
    for (const OpId op : group.operators) {
      for (const TensorId output : outputs_of(graph.op(op))) {
        const bool is_stored = std::find(stored.begin(), stored.end(), output) != stored.end();
        add_graph_tensor(output, is_stored ? TensorRole::output : TensorRole::intermediate);
      }
    }
  }

  StageList run() {
    for (const OpId op : group_.operators) join(op);
    return std::move(list_);
  }

 private:
  void add_graph_tensor(TensorId id, TensorRole role) {
    const GraphTensor& tensor = graph_.tensor(id);
    by_source_[id] = list_.tensors.push_back(
        {tensor_names_.take(identifier_of(tensor.name)), tensor.type, tensor.shape, role, tensor.constant, id});
    if (role == TensorRole::intermediate || !tensor.inside || is_dense(tensor.shape, tensor.inside->strides)) return;
    list_.tensors.back().strides = settled_strides(tensor.shape, tensor.inside->strides);
  }

  void join(OpId op) {
    const OperatorDefinition definition = define_operator(graph_, op);
    IdVector<StageTensorId, StageTensorId> number;  // of the definition's tensors in the joined list
    for (const StageTensor& tensor : definition.list.tensors) {
      if (tensor.source) {
        number.push_back(by_source_.at(*tensor.source));
        continue;
      }
      number.push_back(list_.tensors.push_back(tensor));
      list_.tensors.back().name = tensor_names_.take(identifier_of(tensor.name));
    }
    std::map<std::string, std::string> axis_names;  // the definition's → the group's
    for (Stage stage : definition.list.stages) {
      stage.output = number[stage.output];
      for (Access& access : stage.reads) access.tensor = number[access.tensor];
      const std::string name =
          definition.list.stages.size() == 1 ? graph_.op(op).name : graph_.op(op).name + "_" + stage.name;
      stage.name = stage_names_.take(identifier_of(name));
      name_axes(stage, axis_names);
      axes_of_output_[stage.output] = stage.axes;
      list_.stages.push_back(std::move(stage));
    }
  }

  /// Where a stage without a reduction reads a result of the group along one of its own axes, the axis takes the name
  /// that the result's has; inside one operator equal names stay equal; any other name is new in the group.
  void name_axes(Stage& stage, std::map<std::string, std::string>& names) {
    std::vector<std::string> given(stage.axes.size());
    const auto is_given = [&](const std::string& name) {
      return std::find(given.begin(), given.end(), name) != given.end();
    };
    for (const Access& access : stage.reads) {
      const auto produced = axes_of_output_.find(access.tensor);
      if (produced == axes_of_output_.end() || stage.reduction != Reduction::none) continue;
      const Shape& shape = list_.tensors[access.tensor].shape;
      const bool at_own_index = reads_own_index(stage, access, shape);
      for (std::size_t d = 0; d < access.index.size(); ++d) {
        const Axis& axis = produced->second[d];
        for (std::size_t a = 0; a < stage.axes.size(); ++a) {
          const bool reads_it = at_own_index ? a == d : access.index[d].is_variable(VarId(a));
          const bool same = reads_it && stage.axes[a].extent == axis.extent;
          if (same && given[a].empty() && !is_given(axis.name)) given[a] = axis.name;
        }
      }
    }
    for (std::size_t a = 0; a < stage.axes.size(); ++a) {
      const std::string& own = stage.axes[a].name;
      if (given[a].empty()) {
        const auto known = names.find(own);
        given[a] = known != names.end() && !is_given(known->second) ? known->second : axis_names_.take(own);
      }
      names.emplace(own, given[a]);
      stage.axes[a].name = given[a];
    }
  }

  const Graph& graph_;
  const FusedOperator& group_;
  StageList list_;
  std::map<TensorId, StageTensorId> by_source_;
  std::map<StageTensorId, std::vector<Axis>> axes_of_output_;  ///< spatial axes of what the group computes
  UniqueNames tensor_names_;
  UniqueNames stage_names_;
  UniqueNames axis_names_;
};

}  // namespace

namespace {

/// The graph's tensor that holds these, where the group was chosen.
std::optional<TensorId> whole_of(const FusedOperator& group, const std::vector<TensorId>& parts) {
  for (const auto* stacks : {&group.parameters, &group.results}) {
    for (const TensorStack& stack : *stacks) {
      if (stack.parts == parts) return stack.whole;
    }
  }
  return std::nullopt;
}

StageList branch_stages(const Graph& graph, const FusedOperator& group) {
  const std::vector<Branch> branches = branches_of(graph, group);
  std::vector<StageList> lists;
  for (const Branch& branch : branches) lists.push_back(branch_stages(graph, branch));
  auto stacked = stack_stages(graph, lists, branches);
  check(std::holds_alternative<StackedStages>(stacked), "a group of branches that are not alike");
  auto& [list, parts] = std::get<StackedStages>(stacked);
  UniqueNames names;
  for (const StageTensorId t : parts.ids()) {
    StageTensor& tensor = list.tensors[t];
    const bool is_stack = parts[t] && tensor.role != TensorRole::intermediate;
    tensor.name = names.take(is_stack ? tensor.name + "_stack" : tensor.name);
    if (!is_stack) continue;
    tensor.source = whole_of(group, parts[t]->tensors);
    if (tensor.source) tensor.value = graph.tensor(*tensor.source).constant;
    const auto& box = graph.tensor(parts[t]->tensors.front()).inside;
    if (tensor.role != TensorRole::output || !box || is_dense(tensor.shape, box->strides)) continue;
    tensor.strides = settled_strides(tensor.shape, box->strides);
  }
  return std::move(list);
}

}  // namespace

StageList group_stages(const Graph& graph, const FusedOperator& group) {
  return is_horizontal(group) ? branch_stages(graph, group) : compose_stages(Joiner(graph, group).run());
}

}  // namespace stowage
