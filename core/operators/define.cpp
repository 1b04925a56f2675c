// SPDX-License-Identifier: Apache-2.0
#include "core/operators/define.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/tensor_limits.h"

namespace stowage::operators {
namespace {

std::string operand_name(const OperatorRow& row, std::size_t slot) {
  const bool variadic = row.operands.back() == "…";
  const std::size_t fixed = row.operands.size() - (variadic ? 1 : 0);
  if (!variadic || slot + 1 < fixed) return std::string(row.operands[std::min(slot, fixed - 1)]);
  return fmt::format("{}{}", row.operands[fixed - 1], slot - (fixed - 1));
}

}  // namespace

Definer::Definer(const OperatorContext& context) : context_(context) {
  const OperatorRow* row = find_operator_row(context.op.kind);
  check(row != nullptr, "definition of an operator without a row");
  for (std::size_t slot = 0; slot < context.inputs.size(); ++slot) {
    const auto& input = context.inputs[slot];
    if (!input) {
      operands_.emplace_back();
      continue;
    }
    operands_.emplace_back(static_cast<int>(definition_.list.tensors.size()));
    definition_.list.tensors.push_back(*input);
    definition_.list.tensors.back().name = operand_name(*row, slot);
  }
}

StageTensorId Definer::operand(std::size_t slot) const {
  check(has(slot), "definition looks at an operand that is absent");
  return *operands_[slot];
}

std::vector<StageTensorId> Definer::operands() const {
  std::vector<StageTensorId> present;
  for (const auto& operand : operands_) {
    if (operand) present.push_back(*operand);
  }
  return present;
}

std::size_t Definer::axis(std::int64_t axis, std::size_t dimensions) const {
  const auto rank = static_cast<std::int64_t>(dimensions);
  if (axis < -rank || axis >= rank) {
    refuse("bad-attribute", fmt::format("axis {} of a tensor with {}", axis, counted(rank, "dimension")),
           rank == 0 ? "give it a tensor of one dimension or more"
                     : fmt::format("give an axis from -{} to {}", rank, rank - 1));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::vector<std::size_t> Definer::axes(const std::string& name, std::size_t dimensions,
                                       std::vector<std::size_t> fallback) const {
  if (!has_attribute(name)) return fallback;
  std::vector<std::size_t> result;
  for (const std::int64_t a : ints_attribute(attributes(), name, {})) result.push_back(axis(a, dimensions));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    refuse("bad-attribute", fmt::format("attribute {} names an axis twice", name), "name each axis once");
  }
  return result;
}

void Definer::require_floats(std::initializer_list<StageTensorId> tensors) const {
  for (const StageTensorId tensor : tensors) {
    if (!is_float(type(tensor))) {
      refuse("unsupported-element-type", fmt::format("{} computes in f32 or f64, operand {} is {}", context_.op.kind,
                                                     definition_.list.tensors[tensor].name, name_of(type(tensor))));
    }
  }
}

void Definer::require_numbers(std::initializer_list<StageTensorId> tensors) const {
  for (const StageTensorId tensor : tensors) {
    if (type(tensor) == ElementType::boolean) {
      refuse("unsupported-element-type", fmt::format("{} computes with numbers, operand {} is bool", context_.op.kind,
                                                     definition_.list.tensors[tensor].name));
    }
  }
}

void Definer::require_same_type(const std::vector<StageTensorId>& tensors) const {
  for (const StageTensorId tensor : tensors) {
    if (type(tensor) != type(tensors.front())) {
      refuse("type-mismatch",
             fmt::format("operand {} is {}, operand {} is {}", definition_.list.tensors[tensors.front()].name,
                         name_of(type(tensors.front())), definition_.list.tensors[tensor].name, name_of(type(tensor))));
    }
  }
}

void Definer::require_rank(StageTensorId tensor, int lowest, int highest) const {
  if (rank(tensor) >= lowest && rank(tensor) <= highest) return;
  const std::string wanted = lowest == highest ? fmt::format("{}", lowest) : fmt::format("{} to {}", lowest, highest);
  refuse("shape-mismatch", fmt::format("operand {} has shape {}, {} dimensions were wanted",
                                       definition_.list.tensors[tensor].name, to_text(shape(tensor)), wanted));
}

void Definer::refuse(std::string code, std::string message, std::string remedy) const {
  throw Refusal{std::move(code), std::move(message), std::move(remedy)};
}

StageTensorId Definer::add_constant(std::string name, Tensor value) {
  const StageTensorId tensor = add_tensor(std::move(name), value.type(), value.shape(), TensorRole::constant);
  definition_.list.tensors.back().value = std::move(value);
  return tensor;
}

StageTensorId Definer::add_tensor(std::string name, ElementType type, Shape shape, TensorRole role) {
  if (!count_within_limit(shape)) {
    refuse("tensor-too-large",
           fmt::format("tensor {} would have shape {}, more than {} elements", name, to_text(shape), max_elements_text),
           std::string(too_large_remedy));
  }
  StageTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.role = role;
  return definition_.list.tensors.push_back(std::move(tensor));
}

void Definer::set_result(std::size_t slot, StageTensorId tensor) {
  if (definition_.results.size() <= slot) definition_.results.resize(slot + 1);
  definition_.results[slot] = tensor;
}

OperatorDefinition Definer::done_as_view() {
  definition_.is_view = true;
  return done();
}

StageDraft::StageDraft(Definer& definer, std::string name) : definer_(definer) { stage_.name = std::move(name); }

IndexExpr StageDraft::axis(std::string name, std::int64_t extent) {
  check(stage_.spatial == stage_.axes.size(), "spatial axis after a reduction axis");
  stage_.axes.push_back({std::move(name), extent});
  ++stage_.spatial;
  return VarId(stage_.axes.size() - 1);
}

IndexExpr StageDraft::reduction_axis(std::string name, std::int64_t extent) {
  stage_.axes.push_back({std::move(name), extent});
  return VarId(stage_.axes.size() - 1);
}

std::vector<IndexExpr> StageDraft::axes(const Shape& shape) {
  std::vector<IndexExpr> at;
  for (std::size_t d = 0; d < shape.size(); ++d) at.push_back(axis(fmt::format("i{}", d), shape[d]));
  return at;
}

ScalarExpr StageDraft::read(StageTensorId tensor, std::vector<IndexExpr> at, std::optional<double> padding) {
  check(at.size() == definer_.shape(tensor).size(), "read with a wrong number of indices");
  stage_.reads.push_back({tensor, std::move(at), padding});
  return scalar_read(definer_.type(tensor), last_read());
}

ScalarExpr StageDraft::read_broadcast(StageTensorId tensor) {
  const Shape& shape = definer_.shape(tensor);
  const std::size_t spatial = stage_.spatial;
  check(shape.size() <= spatial, "broadcast of a tensor with more dimensions than the result");
  std::vector<IndexExpr> at;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::size_t axis = spatial - shape.size() + d;
    const bool repeats = shape[d] == 1 && stage_.axes[axis].extent != 1;
    at.push_back(repeats ? IndexExpr(0) : IndexExpr(VarId(axis)));
  }
  return read(tensor, std::move(at));
}

StageTensorId StageDraft::intermediate(const std::string& tensor, ScalarExpr body) {
  return write(tensor, std::nullopt, Reduction::none, std::move(body), {});
}

StageTensorId StageDraft::intermediate(const std::string& tensor, Reduction reduction, ScalarExpr body,
                                       ScalarExpr finish) {
  return write(tensor, std::nullopt, reduction, std::move(body), std::move(finish));
}

StageTensorId StageDraft::output(ScalarExpr body, const std::string& tensor) {
  return write(tensor, 0, Reduction::none, std::move(body), {});
}

StageTensorId StageDraft::output(Reduction reduction, ScalarExpr body, ScalarExpr finish, const std::string& tensor) {
  return write(tensor, 0, reduction, std::move(body), std::move(finish));
}

StageTensorId StageDraft::result(std::size_t slot, const std::string& tensor, Reduction reduction, ScalarExpr body,
                                 ScalarExpr finish) {
  const auto wanted = definer_.wants(slot) ? std::optional(slot) : std::nullopt;
  return write(tensor, wanted, reduction, std::move(body), std::move(finish));
}

StageTensorId StageDraft::write(const std::string& tensor, std::optional<std::size_t> slot, Reduction reduction,
                                ScalarExpr body, ScalarExpr finish) {
  Shape shape;
  for (const VarId axis : stage_.spatial_axes()) shape.push_back(stage_.axes[axis.index()].extent);
  stage_.output = definer_.add_tensor(tensor, finish ? finish->type : body->type, std::move(shape),
                                      slot ? TensorRole::output : TensorRole::intermediate);
  if (slot) definer_.set_result(*slot, stage_.output);
  stage_.reduction = reduction;
  stage_.body = std::move(body);
  stage_.finish = std::move(finish);
  definer_.add_stage(stage_);
  return stage_.output;
}

Shape broadcast_shape(const Definer& d, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const std::int64_t of_a = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t of_b = back <= b.size() ? b[b.size() - back] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      d.refuse("shape-mismatch", fmt::format("shapes {} and {} do not broadcast", to_text(a), to_text(b)),
               "give dimensions, counted from the last, that are equal or 1");
    }
    result[result.size() - back] = of_a == 1 ? of_b : of_a;
  }
  return result;
}

Shape broadcast_shape(const Definer& d, const std::vector<StageTensorId>& tensors) {
  Shape result;
  for (const StageTensorId tensor : tensors) result = broadcast_shape(d, result, d.shape(tensor));
  return result;
}

ScalarExpr number(ElementType type, double value) {
  if (is_float(type)) return scalar_constant(type, value);
  return scalar_integer(type, static_cast<std::int64_t>(value));
}

ScalarExpr less(ScalarExpr a, ScalarExpr b) { return scalar_binary(BinaryOp::less, std::move(a), std::move(b)); }

ScalarExpr equal(ScalarExpr a, ScalarExpr b) { return scalar_binary(BinaryOp::equal, std::move(a), std::move(b)); }

}  // namespace stowage::operators
