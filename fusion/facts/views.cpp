// SPDX-License-Identifier: Apache-2.0
#include "fusion/facts/views.h"

#include <algorithm>

#include "core/operators.h"

namespace stowage {
namespace {

/// The operand whose elements a re-indexing operator hands on.
TensorId data_operand(const Operator& op) {
  check(!op.inputs.empty() && op.inputs.front().has_value(), "a view of nothing");
  return *op.inputs.front();
}

/// Box of a result whose elements are read at affine indices of its own: out[i] = x[a * i + b].
std::optional<StorageBox> affine_box(const Stage& stage, const StorageBox& operand) {
  const std::vector<IndexExpr>& index = stage.reads.front().index;
  StorageBox box{operand.storage, operand.offset, std::vector<std::int64_t>(stage.axes.size(), 0)};
  for (std::size_t d = 0; d < index.size(); ++d) {
    check(index[d].is_affine(), "a slice is affine");
    box.offset += index[d].constant() * operand.strides[d];
    for (std::size_t a = 0; a < box.strides.size(); ++a) {
      box.strides[a] += index[d].coefficient_of(VarId(a)) * operand.strides[d];
    }
  }
  for (std::size_t a = 0; a < box.strides.size(); ++a) {
    if (stage.axes[a].extent == 1) box.strides[a] = std::max<std::int64_t>(box.strides[a], 0);
    if (box.strides[a] < 0) return std::nullopt;
  }
  return box;
}

}  // namespace

std::optional<StorageBox> reshaped_box(const StorageBox& box, const Shape& from, const Shape& to) {
  StorageBox result{box.storage, box.offset, row_major_strides(to)};
  if (element_count(from) == 0) return result;
  // From the innermost dimension outwards, in runs of equal products: those of `from` must lie in memory as if one
  // dimension had been taken apart, then those of `to` take it apart in their way.
  std::size_t f = from.size();
  std::size_t t = to.size();
  for (;;) {
    while (f > 0 && from[f - 1] == 1) --f;
    while (t > 0 && to[t - 1] == 1) --t;
    if (f == 0 || t == 0) break;
    const std::size_t f_end = f;
    const std::size_t t_end = t;
    std::int64_t from_product = from[--f];
    std::int64_t to_product = to[--t];
    while (from_product != to_product) {
      if (from_product < to_product) {
        from_product *= from[--f];
      } else {
        to_product *= to[--t];
      }
    }
    std::int64_t step = box.strides[f_end - 1];
    for (std::size_t d = t_end; d-- > t; step *= to[d]) result.strides[d] = step;
    step = box.strides[f_end - 1];
    for (std::size_t d = f_end; d-- > f; step *= from[d]) {
      if (from[d] != 1 && box.strides[d] != step) return std::nullopt;
    }
  }
  result.strides = settled_strides(to, result.strides);
  return result;
}

std::optional<StorageBox> box_in_operand(const Graph& graph, OpId id, const StorageBox& operand) {
  const Operator& op = graph.op(id);
  const OperatorDefinition definition = define_operator(graph, id);
  const Shape& to = graph.tensor(op.first_output()).shape;
  if (element_count(to) == 0) return StorageBox{operand.storage, operand.offset, row_major_strides(to)};
  if (definition.is_view) return reshaped_box(operand, graph.tensor(data_operand(op)).shape, to);
  if (op.kind == "Slice") return affine_box(definition.list.stages.front(), operand);
  return std::nullopt;
}

std::vector<std::pair<TensorId, StorageBox>> boxes_in_result(const Graph& graph, OpId id, const StorageBox& result) {
  const Operator& op = graph.op(id);
  std::vector<std::pair<TensorId, StorageBox>> boxes;
  const auto rank = static_cast<std::int64_t>(graph.tensor(op.first_output()).shape.size());
  const std::int64_t given = int_attribute(op.attributes, "axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  StorageBox box = result;
  for (const auto& operand : op.inputs) {
    if (!operand) continue;
    const Shape& shape = graph.tensor(*operand).shape;
    if (element_count(shape) > 0) boxes.emplace_back(*operand, box);
    box.offset += shape[axis] * result.strides[axis];
  }
  return boxes;
}

bool is_in_place(const Graph& graph, OpId id) {
  const Operator& op = graph.op(id);
  const StorageBox result = box_of(graph, op.first_output());
  if (op.kind == "Concat") {
    const auto boxes = boxes_in_result(graph, id, result);
    return std::all_of(boxes.begin(), boxes.end(), [&](const auto& operand) {
      return same_box(graph.tensor(operand.first).shape, box_of(graph, operand.first), operand.second);
    });
  }
  if (op.inputs.empty() || !op.inputs.front()) return false;
  // Cheap first: without this the definition of every operator would be made.
  if (result.storage != box_of(graph, *op.inputs.front()).storage) return false;
  const auto wanted = box_in_operand(graph, id, box_of(graph, *op.inputs.front()));
  return wanted && same_box(graph.tensor(op.first_output()).shape, result, *wanted);
}

}  // namespace stowage
