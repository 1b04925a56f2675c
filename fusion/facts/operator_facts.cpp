// SPDX-License-Identifier: Apache-2.0
#include "fusion/facts/operator_facts.h"

#include <algorithm>

#include "fusion/facts/views.h"

namespace stowage {
namespace {

/// Indices are zero or spatial axes in ascending order.
bool drops_dimensions(const Stage& stage, const Access& access) {
  std::size_t next = 0;
  return std::all_of(access.index.begin(), access.index.end(), [&](const IndexExpr& index) {
    if (index == IndexExpr(0)) return true;
    while (next < stage.spatial) {
      if (index.is_variable(VarId(next++))) return true;
    }
    return false;
  });
}

OperandUse use_of(const StageList& list, const Stage& stage, const Access& access) {
  const bool element_by_element = stage.reduction == Reduction::none && !access.padding;
  if (!element_by_element) return OperandUse::other;
  if (reads_own_index(stage, access, list.tensors[access.tensor].shape)) {
    return OperandUse::own_index;
  }
  return drops_dimensions(stage, access) ? OperandUse::broadcast : OperandUse::other;
}

OperatorFacts facts_of(const Graph& graph, OpId id) {
  const Operator& op = graph.op(id);
  const OperatorDefinition definition = define_operator(graph, id);
  OperatorFacts facts;
  facts.kind = fusion_kind(definition.list);
  facts.is_view = definition.is_view;
  facts.in_place = is_in_place(graph, id);
  facts.stages = static_cast<int>(definition.list.stages.size());
  facts.operands.resize(op.inputs.size(), OperandUse::absent);
  IdVector<StageTensorId, std::size_t> slot_of;  // the definition's first tensors are the operands that are present
  for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
    if (op.inputs[slot]) slot_of.push_back(slot);
  }
  for (const Stage& stage : definition.list.stages) {
    facts.reduces = facts.reduces || stage.reduction != Reduction::none;
    for (const Access& access : stage.reads) {
      if (!slot_of.contains(access.tensor)) continue;
      OperandUse& use = facts.operands[slot_of[access.tensor]];
      use = std::max(use, use_of(definition.list, stage, access));
    }
  }
  return facts;
}

}  // namespace

bool reads_own_index(const Stage& stage, const Access& access, const Shape& tensor_shape) {
  if (access.index.size() != stage.spatial) return false;
  for (std::size_t d = 0; d < access.index.size(); ++d) {
    if (tensor_shape[d] != stage.axes[d].extent) return false;
    const bool only_element = tensor_shape[d] == 1 && access.index[d] == IndexExpr(0);
    if (!access.index[d].is_variable(VarId(d)) && !only_element) return false;
  }
  return true;
}

GraphFacts::GraphFacts(const Graph& of) : graph(of), order(topological_order(of)) {
  operators.reserve(graph.operators().size());
  for (std::size_t i = 0; i < graph.operators().size(); ++i) operators.push_back(facts_of(graph, OpId(i)));
  for (std::size_t i = 0; i < order.size(); ++i) operators[order[i].index()].position = i;
}

}  // namespace stowage
