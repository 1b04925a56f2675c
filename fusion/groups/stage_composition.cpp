// SPDX-License-Identifier: Apache-2.0
#include "fusion/groups/stage_composition.h"

#include <algorithm>

#include "core/stage_rewrite.h"
#include "fusion/facts/operator_facts.h"

namespace stowage {
namespace {

/// Operations that composing may compute a second time (y = f(x); z = y * g(y)) before an intermediate is cheaper.
constexpr std::int64_t max_repeated_operations = 32;

bool only_reindexes(const Stage& stage) {
  const bool copies = stage.reduction == Reduction::none && !stage.finish &&
                      std::holds_alternative<ScalarNode::Read>(stage.body->value);
  return copies && std::all_of(stage.reads.begin(), stage.reads.end(), [](const Access& access) {
           return !access.padding && std::all_of(access.index.begin(), access.index.end(), [](const IndexExpr& index) {
             return tensor_values_of(index).empty();
           });
         });
}

std::int64_t uses_of(const Stage& stage, StageTensorId tensor) {
  std::int64_t uses = 0;
  const auto count = [&](const ScalarNode& node) {
    const auto* read = std::get_if<ScalarNode::Read>(&node.value);
    if (read != nullptr && stage.reads[read->read].tensor == tensor) ++uses;
  };
  visit_nodes(stage.body, count);
  if (stage.finish) visit_nodes(stage.finish, count);
  return uses;
}

bool can_compose(const StageList& list, const Stage& producer, const Stage& reader) {
  const Shape& shape = list.tensors[producer.output].shape;
  const bool reindexes = only_reindexes(producer);
  for (const Access& access : reader.reads) {
    if (access.tensor != producer.output) continue;
    if (access.padding) return false;
    if (!reindexes && (reader.reduction != Reduction::none || !reads_own_index(reader, access, shape))) return false;
  }
  // A value that is an index (Gather) cannot be replaced by an expression.
  for (const Access& access : reader.reads) {
    for (const IndexExpr& index : access.index) {
      for (const ReadId read : tensor_values_of(index)) {
        if (reader.reads[read].tensor == producer.output) return false;
      }
    }
  }
  const std::int64_t repeated = uses_of(reader, producer.output) - 1;
  return repeated * operation_count(element_value(producer)) <= max_repeated_operations;
}

StageList without_unused_tensors(StageList list) {
  IdVector<StageTensorId, bool> used(list.tensors.size(), false);
  for (const Stage& stage : list.stages) {
    used[stage.output] = true;
    for (const Access& access : stage.reads) used[access.tensor] = true;
  }
  IdVector<StageTensorId, StageTensor> kept;
  IdVector<StageTensorId, StageTensorId> number(list.tensors.size());
  for (const StageTensorId t : list.tensors.ids()) {
    // Inputs stay even if nothing reads them: callers count them.
    if (!used[t] && list.tensors[t].role != TensorRole::input) continue;
    number[t] = kept.push_back(std::move(list.tensors[t]));
  }
  list.tensors = std::move(kept);
  for (Stage& stage : list.stages) {
    stage.output = number[stage.output];
    for (Access& access : stage.reads) access.tensor = number[access.tensor];
  }
  return list;
}

}  // namespace

StageList compose_stages(StageList list) {
  for (StageId p; list.stages.contains(p);) {
    const Stage producer = list.stages[p];
    const bool is_inner = list.tensors[producer.output].role == TensorRole::intermediate;
    const bool composes = is_inner && producer.reduction == Reduction::none &&
                          std::all_of(list.stages.begin(), list.stages.end(), [&](const Stage& stage) {
                            return !reads(stage, producer.output) || can_compose(list, producer, stage);
                          });
    if (!composes) {
      ++p;
      continue;
    }
    for (Stage& stage : list.stages) {
      if (reads(stage, producer.output)) stage = inlined(std::move(stage), producer);
    }
    list.stages.erase(p);
  }
  return without_unused_tensors(std::move(list));
}

}  // namespace stowage
