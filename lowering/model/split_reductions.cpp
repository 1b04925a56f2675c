// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/split_reductions.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "core/stage_rewrite.h"
#include "lowering/model/group_model.h"

namespace stowage {
namespace {

/// A stage's axes with the parts as the first one, and of one of its reductions what a part has.
Stage sum_of_part(const Stage& whole, VarId axis, std::int64_t parts, StageTensorId output) {
  Stage part = whole;
  const std::int64_t length = whole.axes[axis.index()].extent / parts;
  const auto moved = [&](const IndexExpr& e) {
    return substitute(e, [&](VarId v) {
      const IndexExpr same = VarId(v.index() + 1);
      return v == axis ? same + IndexExpr(VarId(0)) * length : same;
    });
  };
  part.name = whole.name + "_parts";
  part.output = output;
  part.axes[axis.index()].extent = length;
  part.axes.insert(part.axes.begin(), {part_iterator_name(whole.axes[axis.index()].name), parts});
  ++part.spatial;
  part.finish = nullptr;
  for (Access& read : part.reads) {
    for (IndexExpr& e : read.index) e = moved(e);
  }
  part.body = map_leaves(part.body, [&](const ScalarExpr& leaf) -> ScalarExpr {
    const auto* const index = std::get_if<ScalarNode::Index>(&leaf->value);
    return index == nullptr ? nullptr : scalar_index(leaf->type, moved(index->value));
  });
  return with_tidy_reads(std::move(part));
}

/// The stage over the results of its parts; what it reads to finish stays.
Stage sum_of_parts(const Stage& whole, VarId axis, std::int64_t parts, StageTensorId sums) {
  Stage sum = whole;
  sum.axes.resize(whole.spatial);
  sum.axes.push_back({part_iterator_name(whole.axes[axis.index()].name), parts});
  Access read{sums, {IndexExpr(VarId(whole.spatial))}, std::nullopt};
  for (const VarId spatial : whole.spatial_axes()) read.index.emplace_back(spatial);
  sum.body = scalar_read(whole.body->type, sum.reads.push_back(std::move(read)));
  return with_tidy_reads(std::move(sum));
}

/// Why a reduction's iterator cannot be split, whatever the number of parts; empty where it can. Its parts all need as
/// much of every tensor, which those of a window do not at the border of a picture.
std::string why_not_split(const GroupModel& model, IteratorId i) {
  const ModelIterator& iterator = model.iterators[i];
  if (iterator.spatial) return "it is not reduced";
  if (!model.is_main_reduction(i)) return "another reduction stands behind the one that it belongs to";
  for (const Access& read : model.list->stages[iterator.stage].reads) {
    for (const IndexExpr& e : read.index) {
      if (mentions(e, iterator.axis) && !e.is_variable(iterator.axis)) return "what it moves moves with more than it";
    }
  }
  return {};
}

StageList split_stage(StageList list, StageId stage, VarId axis, std::int64_t parts) {
  const Stage whole = list.stages[stage];
  StageTensor sums;
  sums.name = list.tensors[whole.output].name + "_parts";
  sums.type = whole.body->type;
  sums.role = TensorRole::intermediate;
  sums.shape = {parts};
  for (const VarId spatial : whole.spatial_axes()) sums.shape.push_back(whole.axes[spatial.index()].extent);
  sums.exchanged = true;
  const StageTensorId output = list.tensors.push_back(std::move(sums));
  IdVector<StageId, Stage> stages;
  for (const StageId s : list.stages.ids()) {
    if (s != stage) {
      stages.push_back(std::move(list.stages[s]));
      continue;
    }
    stages.push_back(sum_of_part(whole, axis, parts, output));
    stages.push_back(sum_of_parts(whole, axis, parts, output));
  }
  list.stages = std::move(stages);
  return list;
}

}  // namespace

std::string part_iterator_name(const std::string& iterator) { return iterator + "_part"; }

std::variant<StageList, Decision> split_reductions(StageList stages, const SplitReductions& parts) {
  for (const auto& [name, number] : parts) {
    const auto refused = [&, name = name, number = number](const std::string& why) {
      return Decision::refuse(schedule_rule,
                              fmt::format("split_reductions: {} cannot be cut into {} parts: {}", name, number, why));
    };
    const GroupModel model = model_of_no_target(stages);
    const auto part = model.iterator_named(part_iterator_name(name));
    if (part && model.iterators[*part].extent == number) continue;
    if (parts.size() > 1 || part) return refused("one reduction may be split, once");
    const auto found = model.iterator_named(name);
    if (!found) return refused("there is no such iterator");
    if (const std::string why = why_not_split(model, *found); !why.empty()) return refused(why);
    const std::int64_t extent = model.iterators[*found].extent;
    if (number < 2 || extent % number != 0) {
      std::int64_t nearest = std::min(number, extent);
      while (nearest > 1 && extent % nearest != 0) --nearest;
      return refused(nearest > 1 ? fmt::format("its {} elements make {} equal parts", extent, nearest)
                                 : fmt::format("its {} elements make no equal parts", extent));
    }
    const ModelIterator iterator = model.iterators[*found];
    stages = split_stage(std::move(stages), iterator.stage, iterator.axis, number);
  }
  return stages;
}

SplitReductions possible_split_reduction(const StageList& stages, const Target& target) {
  const std::int64_t parts = target.cores.mesh_columns;
  if (!sends_along_rows(target) || parts < 2) return {};
  const GroupModel model = model_of_no_target(stages);
  std::int64_t outputs = 1;
  for (const ModelIterator& iterator : model.iterators) outputs *= iterator.spatial ? iterator.extent : 1;
  // With a register block of outputs for each core there is nothing to gain.
  constexpr std::int64_t vectors_of_core = 16;
  if (outputs > vectors_of_core * target.cores.vector_lanes * target.cores.count) return {};
  SplitReductions best;
  std::int64_t longest = parts - 1;
  for (const IteratorId i : model.iterators.ids()) {
    const ModelIterator& iterator = model.iterators[i];
    if (!why_not_split(model, i).empty() || model.pinned.contains(i) || model.overlapping.contains(i)) continue;
    if (iterator.extent % parts != 0 || iterator.extent <= longest) continue;
    longest = iterator.extent;
    best = {{iterator.name, parts}};
  }
  return best;
}

}  // namespace stowage
