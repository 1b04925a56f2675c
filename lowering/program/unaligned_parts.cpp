// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/unaligned_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "core/template_names.h"
#include "fusion/facts/views.h"
#include "fusion/groups/group.h"
#include "lowering/program/canonical_stages.h"
#include "lowering/program/plan_group.h"

namespace stowage {
namespace {

/// The tensor of the graph whose memory one of the stages' lies in.
std::optional<TensorId> storage_of(const Graph& graph, const StageTensor& tensor) {
  const auto source = tensor.in_memory();
  if (!source) return std::nullopt;
  const auto& inside = graph.tensor(*source).inside;
  return inside ? inside->storage : *source;
}

/// The stages of each operator as it would be planned alone; views are not planned.
std::vector<StageList> stages_of_parts(const Graph& graph, const FusedOperator& group) {
  std::vector<StageList> parts;
  for (const OpId op : group.operators) {
    if (is_in_place(graph, op)) continue;
    FusedOperator alone;
    alone.name = graph.op(op).name;
    alone.template_name = single_template;
    alone.operators = {op};
    alone.roles = {"anchor"};
    alone.results = results_of_operator(graph.op(op));
    alone.inputs = outside_inputs(graph, alone.operators);
    parts.push_back(group_stages(graph, alone));
  }
  return parts;
}

/// `sources` are the nest's stages with their tensors' sources, which equal groups do not share.
std::optional<std::pair<DmaDirection, TensorId>> memory_of(const Graph& graph, const StageList& sources,
                                                           const UnalignedTransfer& transfer) {
  const auto storage = storage_of(graph, sources.tensors[transfer.tensor]);
  if (!storage) return std::nullopt;
  return std::pair(transfer.direction, *storage);
}

}  // namespace

std::optional<UnalignedTransfer> added_unaligned(const Graph& graph, const FusedOperator& group, const LoopNest& nest,
                                                 const Planner& planner, const Target& target, PlanChoices& choices) {
  const std::vector<UnalignedTransfer> unaligned = unaligned_transfers(nest, target);
  if (unaligned.empty()) return std::nullopt;
  std::set<std::pair<DmaDirection, TensorId>> alone;
  for (const StageList& part : stages_of_parts(graph, group)) {
    const CanonicalStages canonical = canonical_stages(part);
    if (choices.find(canonical.text) == nullptr) choices.add(canonical.text, choose_plan(canonical, planner, target));
    const Planned planned =
        plan_chosen("part", canonical.stages, choices.find(canonical.text)->schedule, planner, target, {});
    const auto* plan = std::get_if<Plan>(&planned);
    if (plan == nullptr) continue;
    for (const UnalignedTransfer& transfer : unaligned_transfers(plan->nest, target)) {
      if (const auto memory = memory_of(graph, part, transfer)) alone.insert(*memory);
    }
  }
  const StageList sources = group_stages(graph, group);
  const auto added = std::find_if(unaligned.begin(), unaligned.end(), [&](const UnalignedTransfer& transfer) {
    const auto memory = memory_of(graph, sources, transfer);
    return !memory || !alone.contains(*memory);
  });
  if (added == unaligned.end()) return std::nullopt;
  return *added;
}

std::string parts_text(const Graph& graph, const FusedOperator& group, const StageList& stages, const Target& target) {
  const bool wide = std::all_of(stages.tensors.begin(), stages.tensors.end(), [&](const StageTensor& tensor) {
    return byte_size(tensor.type) % target.dma.alignment == 0;
  });
  if (wide) return {};
  std::map<TensorId, std::size_t> numbers;
  std::string text;
  const auto add = [&](const StageList& list) {
    for (const StageTensor& tensor : list.tensors) {
      const auto storage = storage_of(graph, tensor);
      text += storage ? fmt::format(" {}", numbers.try_emplace(*storage, numbers.size()).first->second) : " -";
    }
    text += '\n';
  };
  add(stages);
  for (const StageList& part : stages_of_parts(graph, group)) {
    text += canonical_stages(part).text;
    add(part);
  }
  return text;
}

}  // namespace stowage
