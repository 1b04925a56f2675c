// SPDX-License-Identifier: Apache-2.0
#include "core/stage_rewrite.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/check.h"
#include "core/same_padding.h"

namespace stowage {
namespace {

using ReadNumber = std::function<ReadId(ReadId)>;
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

}  // namespace

ScalarExpr element_value(const Stage& stage) {
  if (!stage.finish) return stage.body;
  return map_leaves(stage.finish, [&](const ScalarExpr& leaf) -> ScalarExpr {
    return std::holds_alternative<ScalarNode::Accumulator>(leaf->value) ? stage.body : nullptr;
  });
}

Stage with_tidy_reads(Stage stage) {
  IdVector<ReadId, bool> used(stage.reads.size(), false);
  const auto use_index = [&](const IndexExpr& index) {
    for (const ReadId read : tensor_values_of(index)) used[read] = true;
  };
  const auto use_node = [&](const ScalarNode& node) {
    if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) {
      used[read->read] = true;
      for (const IndexExpr& index : stage.reads[read->read].index) use_index(index);
    }
    if (const auto* index = std::get_if<ScalarNode::Index>(&node.value)) use_index(index->value);
  };
  visit_nodes(stage.body, use_node);
  if (stage.finish) visit_nodes(stage.finish, use_node);

  IdVector<ReadId, Access> kept;
  IdVector<ReadId, std::optional<ReadId>> number(stage.reads.size());
  for (const ReadId r : stage.reads.ids()) {
    if (!used[r]) continue;
    const auto equal = std::find_if(kept.begin(), kept.end(), [&](const Access& access) {
      return access.tensor == stage.reads[r].tensor && access.index == stage.reads[r].index &&
             same_padding(access.padding, stage.reads[r].padding);
    });
    number[r] = equal == kept.end() ? kept.push_back(stage.reads[r]) : kept.id_of(*equal);
  }
  const auto new_number = [&](ReadId read) { return number[read].value(); };
  const auto renumbered = [&](const IndexExpr& index) { return renumber_reads(index, new_number); };
  for (Access& access : kept) {
    for (IndexExpr& index : access.index) index = renumbered(index);
  }
  stage.reads = std::move(kept);
  stage.body = moved(stage.body, new_number, renumbered);
  if (stage.finish) stage.finish = moved(stage.finish, new_number, renumbered);
  return stage;
}

Stage inlined(Stage reader, const Stage& producer) {
  const ScalarExpr value = element_value(producer);
  IdVector<ReadId, ScalarExpr> replacement(reader.reads.size());
  for (const ReadId k : replacement.ids()) {
    if (reader.reads[k].tensor != producer.output) continue;
    const std::vector<IndexExpr> place = reader.reads[k].index;
    const std::size_t base = reader.reads.size();
    const auto number = [&](ReadId read) { return ReadId(base + read.index()); };
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
      if (read == nullptr || !replacement.contains(read->read)) return nullptr;
      return replacement[read->read];
    });
  };
  reader.body = replaced(reader.body);
  if (reader.finish) reader.finish = replaced(reader.finish);
  return with_tidy_reads(std::move(reader));
}

bool finish_may_move(const StageList& list, const Stage& reduction) {
  return reduction.reduction != Reduction::none && reduction.finish && reduction.finish->type == reduction.body->type &&
         reduction.finish->type == list.tensors[reduction.output].type;
}

void move_finish(Stage& reduction, Stage& reader) {
  check(reduction.finish != nullptr, "a reduction without a finish");
  Stage finish = reduction;  // as a stage of its own that reads what is reduced
  Access result{reduction.output, {}, std::nullopt};
  for (const VarId axis : reduction.spatial_axes()) result.index.emplace_back(axis);
  const ReadId read = finish.reads.push_back(std::move(result));
  finish.body = map_leaves(finish.finish, [&](const ScalarExpr& leaf) -> ScalarExpr {
    return std::holds_alternative<ScalarNode::Accumulator>(leaf->value) ? scalar_read(leaf->type, read) : nullptr;
  });
  finish.finish = nullptr;
  finish = with_tidy_reads(std::move(finish));  // without what is read for the terms, along reduced axes
  reader = inlined(std::move(reader), finish);
  reduction.finish = nullptr;
  reduction = with_tidy_reads(std::move(reduction));
}

}  // namespace stowage
