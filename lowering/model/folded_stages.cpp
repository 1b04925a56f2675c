// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/folded_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/check.h"
#include "core/stage_rewrite.h"

namespace stowage {
namespace {

/// Operations of a finish that the stage behind it may name more than once (y * f(y)): emitted code computes them once.
constexpr std::int64_t max_repeated_operations = 4;

/// The literal for each read of a stage; null for those that stay.
IdVector<ReadId, ScalarExpr> literals_of(const StageList& list, const Stage& stage) {
  IdVector<ReadId, ScalarExpr> literals(stage.reads.size());
  for (const ReadId r : literals.ids()) {
    const Access& access = stage.reads[r];
    const bool at_zero =
        std::all_of(access.index.begin(), access.index.end(), [](const IndexExpr& e) { return e == IndexExpr(0); });
    if (at_zero) literals[r] = literal_of(list.tensors[access.tensor]);
  }
  return literals;
}

bool has_literals(const StageList& list, const Stage& stage) {
  const IdVector<ReadId, ScalarExpr> literals = literals_of(list, stage);
  bool has = false;
  const auto look_at = [&](const ScalarNode& node) {
    const auto* read = std::get_if<ScalarNode::Read>(&node.value);
    has = has || (read != nullptr && literals[read->read] != nullptr);
  };
  if (stage.reduction == Reduction::none) visit_nodes(stage.body, look_at);
  if (stage.finish) visit_nodes(stage.finish, look_at);
  return has;
}

Stage with_literals(const StageList& list, Stage stage) {
  const IdVector<ReadId, ScalarExpr> literals = literals_of(list, stage);
  const auto replaced = [&](const ScalarExpr& e) {
    return map_leaves(e, [&](const ScalarExpr& leaf) -> ScalarExpr {
      const auto* read = std::get_if<ScalarNode::Read>(&leaf->value);
      return read == nullptr ? nullptr : literals[read->read];
    });
  };
  if (stage.reduction == Reduction::none) stage.body = replaced(stage.body);
  if (stage.finish) stage.finish = replaced(stage.finish);
  return with_tidy_reads(std::move(stage));
}

/// Whether the points of a stage read each element of a tensor once: every dimension along another of its axes.
bool reads_each_once(const Stage& stage, const Access& access, const Shape& shape) {
  if (access.padding) return false;
  std::set<std::size_t> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto variables = variables_of(access.index[d]);
    if (shape[d] == 1 && access.index[d] == IndexExpr(0)) continue;
    if (variables.size() != 1 || !access.index[d].is_variable(*variables.begin())) return false;
    const std::size_t axis = variables.begin()->index();
    if (stage.axes[axis].extent != shape[d] || !axes.insert(axis).second) return false;
  }
  for (std::size_t axis = 0; axis < stage.axes.size(); ++axis) {
    if (!axes.contains(axis) && stage.axes[axis].extent != 1) return false;
  }
  return true;
}

/// Whether an index of the stage is the value of a tensor's element.
bool looks_up(const Stage& stage, StageTensorId tensor) {
  return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const Access& access) {
    return std::any_of(access.index.begin(), access.index.end(), [&](const IndexExpr& e) {
      const auto values = tensor_values_of(e);
      return std::any_of(values.begin(), values.end(), [&](ReadId read) { return stage.reads[read].tensor == tensor; });
    });
  });
}

std::int64_t uses_of(const Stage& stage, StageTensorId tensor) {
  std::int64_t uses = 0;
  visit_nodes(stage.body, [&](const ScalarNode& node) {
    const auto* read = std::get_if<ScalarNode::Read>(&node.value);
    if (read != nullptr && stage.reads[read->read].tensor == tensor) ++uses;
  });
  return uses;
}

/// Whether a finish is so little work that naming it again costs nothing.
bool is_little(const ScalarExpr& finish) {
  bool little = operation_count(finish) <= max_repeated_operations;
  visit_nodes(finish, [&](const ScalarNode& node) {
    const auto* binary = std::get_if<ScalarNode::Binary>(&node.value);
    little = little && !std::holds_alternative<ScalarNode::Unary>(node.value) &&
             (binary == nullptr || (binary->op != BinaryOp::divide && binary->op != BinaryOp::power));
  });
  return little;
}

/// The stage that may finish what a reduction leaves.
std::optional<StageId> finishing_stage(const StageList& list, const Stage& reduction) {
  const StageTensor& result = list.tensors[reduction.output];
  if (result.role != TensorRole::intermediate || !finish_may_move(list, reduction)) return std::nullopt;
  std::optional<StageId> found;
  for (const StageId s : list.stages.ids()) {
    if (!reads(list.stages[s], reduction.output)) continue;
    if (found) return std::nullopt;
    found = s;
  }
  if (!found) return std::nullopt;
  const Stage& reader = list.stages[*found];
  if (reader.reduction != Reduction::none || reader.finish || looks_up(reader, reduction.output)) return std::nullopt;
  const bool each_once = std::all_of(reader.reads.begin(), reader.reads.end(), [&](const Access& access) {
    return access.tensor != reduction.output || reads_each_once(reader, access, result.shape);
  });
  if (!each_once) return std::nullopt;
  if (uses_of(reader, reduction.output) > 1 && !is_little(reduction.finish)) return std::nullopt;
  return found;
}

}  // namespace

ScalarExpr literal_of(const StageTensor& tensor) {
  if (tensor.role != TensorRole::constant || !tensor.value || tensor.value->size() != 1) return nullptr;
  switch (tensor.type) {
    case ElementType::f32:
    case ElementType::f64: {
      const double value = tensor.value->as_double(0);
      return scalar_constant(tensor.type, std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
    }
    case ElementType::i8:
    case ElementType::i16:
    case ElementType::i32:
    case ElementType::i64:
    case ElementType::u8:
    case ElementType::u16:
    case ElementType::u32:
    case ElementType::boolean: return scalar_integer(tensor.type, tensor.value->as_int64(0));
    case ElementType::u64:
    case ElementType::f16:
    case ElementType::bf16: return nullptr;
  }
  fail_check("unknown element type");
}

StageList fold_stages(StageList stages) {
  for (Stage& stage : stages.stages) {
    if (has_literals(stages, stage)) stage = with_literals(stages, std::move(stage));
  }
  for (Stage& stage : stages.stages) {
    const auto reader = finishing_stage(stages, stage);
    if (!reader) continue;
    move_finish(stage, stages.stages[*reader]);
    stages.tensors[stage.output].source.reset();  // the graph's tensor has the finish
  }
  return stages;
}

bool may_fold(const StageList& stages) {
  return std::any_of(stages.stages.begin(), stages.stages.end(), [&](const Stage& stage) {
    return has_literals(stages, stage) || finishing_stage(stages, stage).has_value();
  });
}

}  // namespace stowage
