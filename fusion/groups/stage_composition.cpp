// SPDX-License-Identifier: Apache-2.0
#include "fusion/groups/stage_composition.h"

#include <algorithm>
#include <functional>

#include "core/same_padding.h"
#include "fusion/facts/operator_facts.h"

namespace stowage {
namespace {

/// Operations that composing may compute a second time (y = f(x); z = y * g(y)) before an intermediate is cheaper.
constexpr std::int64_t max_repeated_operations = 32;

/// What a stage without a reduction computes for one element.
ScalarExpr element_value(const Stage& stage) {
  if (!stage.finish) return stage.body;
  return map_leaves(stage.finish, [&](const ScalarExpr& leaf) -> ScalarExpr {
    return std::holds_alternative<ScalarNode::Accumulator>(leaf->value) ? stage.body : nullptr;
  });
}

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
    if (read != nullptr && stage.reads[static_cast<std::size_t>(read->read)].tensor == tensor) ++uses;
  };
  visit_nodes(stage.body, count);
  if (stage.finish) visit_nodes(stage.finish, count);
  return uses;
}

bool reads(const Stage& stage, StageTensorId tensor) {
  return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const Access& a) { return a.tensor == tensor; });
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
      for (const int read : tensor_values_of(index)) {
        if (reader.reads[static_cast<std::size_t>(read)].tensor == producer.output) return false;
      }
    }
  }
  const std::int64_t repeated = uses_of(reader, producer.output) - 1;
  return repeated * operation_count(element_value(producer)) <= max_repeated_operations;
}

using ReadNumber = std::function<int(int)>;
using IndexMap = std::function<IndexExpr(const IndexExpr&)>;

/// The same expression over other reads and indices.
ScalarExpr moved(const ScalarExpr& e, const ReadNumber& number, const IndexMap& map) {
  return map_leaves(e, [&](const ScalarExpr& leaf) -> ScalarExpr {
    if (const auto* read = std::get_if<ScalarNode::Read>(&leaf->value)) {
      return scalar_read(leaf->type, number(read->read));
    }
    if (const auto* index = std::get_if<ScalarNode::Index>(&leaf->value)) {
      return scalar_index(leaf->type, map(index->value));
    }
    return nullptr;
  });
}

/// Drops reads that nothing uses any more, and merges equal ones.
Stage with_tidy_reads(Stage stage) {
  std::vector<bool> used(stage.reads.size(), false);
  const auto use_index = [&](const IndexExpr& index) {
    for (const int read : tensor_values_of(index)) used[static_cast<std::size_t>(read)] = true;
  };
  const auto use_node = [&](const ScalarNode& node) {
    if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) {
      used[static_cast<std::size_t>(read->read)] = true;
      for (const IndexExpr& index : stage.reads[static_cast<std::size_t>(read->read)].index) use_index(index);
    }
    if (const auto* index = std::get_if<ScalarNode::Index>(&node.value)) use_index(index->value);
  };
  visit_nodes(stage.body, use_node);
  if (stage.finish) visit_nodes(stage.finish, use_node);

  std::vector<Access> kept;
  std::vector<int> number(stage.reads.size(), -1);
  for (std::size_t r = 0; r < stage.reads.size(); ++r) {
    if (!used[r]) continue;
    const auto equal = std::find_if(kept.begin(), kept.end(), [&](const Access& access) {
      return access.tensor == stage.reads[r].tensor && access.index == stage.reads[r].index &&
             same_padding(access.padding, stage.reads[r].padding);
    });
    number[r] = static_cast<int>(equal - kept.begin());
    if (equal == kept.end()) kept.push_back(stage.reads[r]);
  }
  const auto new_number = [&](int read) { return number[static_cast<std::size_t>(read)]; };
  const auto renumbered = [&](const IndexExpr& index) { return renumber_reads(index, new_number); };
  for (Access& access : kept) {
    for (IndexExpr& index : access.index) index = renumbered(index);
  }
  stage.reads = std::move(kept);
  stage.body = moved(stage.body, new_number, renumbered);
  if (stage.finish) stage.finish = moved(stage.finish, new_number, renumbered);
  return stage;
}

/// `reader` with every read of the producer's output replaced by its computation.
Stage inlined(Stage reader, const Stage& producer) {
  const ScalarExpr value = element_value(producer);
  std::vector<ScalarExpr> replacement(reader.reads.size());
  for (std::size_t k = 0; k < replacement.size(); ++k) {
    if (reader.reads[k].tensor != producer.output) continue;
    const std::vector<IndexExpr> place = reader.reads[k].index;
    const int base = static_cast<int>(reader.reads.size());
    const auto number = [&](int read) { return base + read; };
    const auto at_place = [&](const IndexExpr& index) {
      return substitute(renumber_reads(index, number), [&](VarId axis) { return place.at(axis.index()); });
    };
    for (Access access : producer.reads) {
      for (IndexExpr& index : access.index) index = at_place(index);
      reader.reads.push_back(std::move(access));
    }
    replacement[k] = moved(value, number, at_place);
  }
  const auto replaced = [&](const ScalarExpr& e) {
    return map_leaves(e, [&](const ScalarExpr& leaf) -> ScalarExpr {
      const auto* read = std::get_if<ScalarNode::Read>(&leaf->value);
      if (read == nullptr || static_cast<std::size_t>(read->read) >= replacement.size()) return nullptr;
      return replacement[static_cast<std::size_t>(read->read)];
    });
  };
  reader.body = replaced(reader.body);
  if (reader.finish) reader.finish = replaced(reader.finish);
  return with_tidy_reads(std::move(reader));
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
