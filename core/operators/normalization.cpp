// SPDX-License-Identifier: Apache-2.0
// Normalisations: BatchNormalization (inference), Softmax, LayerNormalization and its inverse deviation, LRN.
#include <fmt/format.h>

#include "core/operators/reduced.h"

namespace stowage::operators {
namespace {

OperatorDefinition batch_normalization(Definer& d) {
  const StageTensorId x = d.operand(0);
  d.require_floats({x});
  d.require_same_type(d.operands());
  const Shape shape = d.shape(x);
  // A tensor without a channel dimension has one channel.
  const std::int64_t channels = shape.size() < 2 ? 1 : shape[1];
  for (std::size_t slot = 1; slot < 5; ++slot) {
    if (d.shape(d.operand(slot)) != Shape{channels}) {
      d.refuse("shape-mismatch", fmt::format("a parameter has shape {}, the input has {} channels",
                                             to_text(d.shape(d.operand(slot))), channels));
    }
  }
  StageDraft stage(d, "normalize");
  const auto at = stage.axes(shape);
  const std::vector<IndexExpr> channel = {shape.size() < 2 ? IndexExpr(0) : at[1]};
  const ScalarExpr element = stage.read(x, at);
  const ScalarExpr scale = stage.read(d.operand(1), channel);
  const ScalarExpr bias = stage.read(d.operand(2), channel);
  const ScalarExpr mean = stage.read(d.operand(3), channel);
  const ScalarExpr variance = stage.read(d.operand(4), channel);
  const ScalarExpr epsilon = number(element->type, float_attribute(d.attributes(), "epsilon", 1e-5));
  stage.output((element - mean) * (scale / scalar_unary(UnaryOp::sqrt, variance + epsilon)) + bias);
  return d.done();
}

OperatorDefinition softmax(Definer& d) {
  const StageTensorId x = d.operand(0);
  d.require_floats({x});
  const Shape shape = d.shape(x);
  if (shape.empty()) d.refuse("shape-mismatch", "Softmax of a scalar");
  const std::size_t single = d.axis(int_attribute(d.attributes(), "axis", -1), shape.size());
  const auto axes = d.axes("axes", shape.size(), {single});
  if (axes.empty()) d.refuse("bad-attribute", "attribute axes names no axis");

  StageDraft max_stage(d, "max");
  const ReducedAxes max_at = draft_reduced_axes(max_stage, shape, axes, Keep::dropped);
  const StageTensorId largest = max_stage.intermediate("M", Reduction::maximum, max_stage.read(x, max_at.source));

  const auto exp_of_difference = [&](StageDraft& stage, const std::vector<IndexExpr>& at) {
    const ScalarExpr element = stage.read(x, at);
    return scalar_unary(UnaryOp::exp, element - stage.read(largest, without_axes(at, axes)));
  };
  StageDraft sum_stage(d, "sum");
  const ReducedAxes sum_at = draft_reduced_axes(sum_stage, shape, axes, Keep::dropped);
  const StageTensorId sum = sum_stage.intermediate("S", Reduction::sum, exp_of_difference(sum_stage, sum_at.source));

  // The exponential is computed again, so that no intermediate has the size of the whole tensor.
  StageDraft normalize(d, "normalize");
  const auto at = normalize.axes(shape);
  const ScalarExpr exponential = exp_of_difference(normalize, at);
  normalize.output(exponential / normalize.read(sum, without_axes(at, axes)));
  return d.done();
}

/// The axes from attribute `axis` to the last.
std::vector<std::size_t> trailing_axes(const Definer& d, StageTensorId tensor) {
  const std::size_t count = d.shape(tensor).size();
  std::vector<std::size_t> axes;
  for (std::size_t axis = d.axis(int_attribute(d.attributes(), "axis", -1), count); axis < count; ++axis) {
    axes.push_back(axis);
  }
  return axes;
}

ScalarExpr inverse_deviation(const Definer& d, const ScalarExpr& variance) {
  const ScalarExpr epsilon = number(variance->type, float_attribute(d.attributes(), "epsilon", 1e-5));
  return number(variance->type, 1) / scalar_unary(UnaryOp::sqrt, variance + epsilon);
}

/// A tensor with one number for all elements along some axes.
struct Statistic {
  StageTensorId tensor;
  Keep keep = Keep::dropped;  ///< what it has of those axes: kept, with extent 1, where the statistic is an output

  /// Where it is read for the element at `at` of the whole tensor.
  [[nodiscard]] std::vector<IndexExpr> index(std::vector<IndexExpr> at, const std::vector<std::size_t>& axes) const {
    if (keep == Keep::dropped) return without_axes(at, axes);
    for (const std::size_t axis : axes) at[axis] = 0;
    return at;
  }
};

Keep keep_of_result(const Definer& d, std::size_t slot) { return d.wants(slot) ? Keep::kept : Keep::dropped; }

/// Adds the stage that computes the mean over `axes`: the second output of an operator that has one.
Statistic add_mean(Definer& d, StageTensorId x, const std::vector<std::size_t>& axes) {
  const Keep keep = keep_of_result(d, 1);
  StageDraft stage(d, "mean");
  const ReducedAxes at = draft_reduced_axes(stage, d.shape(x), axes, keep);
  const ElementType type = d.type(x);
  const ScalarExpr element = stage.read(x, at.source);
  const ScalarExpr mean = scalar_accumulator(type) / number(type, static_cast<double>(at.count));
  return {stage.result(1, d.wants(1) ? "Mean" : "M", Reduction::sum, element, mean), keep};
}

/// Drafts the sum of squared differences from the mean; returns what 1/sqrt(variance + epsilon) is of it.
struct Deviation {
  ScalarExpr body;
  ScalarExpr finish;
};
Deviation draft_deviation(const Definer& d, StageDraft& stage, StageTensorId x, const Statistic& mean,
                          const ReducedAxes& at, const std::vector<std::size_t>& axes) {
  const ElementType type = d.type(x);
  const ScalarExpr element = stage.read(x, at.source);
  const ScalarExpr difference = element - stage.read(mean.tensor, mean.index(at.source, axes));
  const ScalarExpr variance = scalar_accumulator(type) / number(type, static_cast<double>(at.count));
  return {difference * difference, inverse_deviation(d, variance)};
}

OperatorDefinition layer_normalization(Definer& d) {
  const StageTensorId x = d.operand(0);
  d.require_floats({x});
  d.require_same_type(d.operands());
  d.require_rank(x, 1, 64);
  const Shape shape = d.shape(x);
  const auto axes = trailing_axes(d, x);
  for (std::size_t slot = 1; slot < 3; ++slot) {
    if (d.has(slot) && broadcast_shape(d, shape, d.shape(d.operand(slot))) != shape) {
      d.refuse("shape-mismatch", fmt::format("a parameter of shape {} does not broadcast to {}",
                                             to_text(d.shape(d.operand(slot))), to_text(shape)));
    }
  }
  const Statistic mean = add_mean(d, x, axes);
  StageDraft deviation_stage(d, "deviation");
  const Keep keep = keep_of_result(d, 2);
  const ReducedAxes reduced = draft_reduced_axes(deviation_stage, shape, axes, keep);
  const Deviation deviation = draft_deviation(d, deviation_stage, x, mean, reduced, axes);
  const Statistic inverse = {
      deviation_stage.result(2, d.wants(2) ? "InvStdDev" : "D", Reduction::sum, deviation.body, deviation.finish),
      keep};

  StageDraft normalize(d, "normalize");
  const auto at = normalize.axes(shape);
  const ScalarExpr element = normalize.read(x, at);
  const ScalarExpr centred = element - normalize.read(mean.tensor, mean.index(at, axes));
  ScalarExpr value = centred * normalize.read(inverse.tensor, inverse.index(at, axes));
  value = value * normalize.read_broadcast(d.operand(1));
  if (d.has(2)) value = value + normalize.read_broadcast(d.operand(2));
  normalize.output(value);
  return d.done();
}

OperatorDefinition inv_std_dev(Definer& d) {
  const StageTensorId x = d.operand(0);
  d.require_floats({x});
  d.require_rank(x, 1, 64);
  const auto axes = trailing_axes(d, x);
  const Statistic mean = add_mean(d, x, axes);
  StageDraft stage(d, "deviation");
  const ReducedAxes at = draft_reduced_axes(stage, d.shape(x), axes, Keep::kept);
  const Deviation deviation = draft_deviation(d, stage, x, mean, at, axes);
  stage.output(Reduction::sum, deviation.body, deviation.finish);
  return d.done();
}

OperatorDefinition lrn(Definer& d) {
  const StageTensorId x = d.operand(0);
  d.require_floats({x});
  d.require_rank(x, 2, 64);
  const Shape shape = d.shape(x);
  const std::int64_t size = int_attribute(d.attributes(), "size", 1);
  if (size < 1 || size > (std::int64_t{1} << 31)) d.refuse("bad-attribute", fmt::format("attribute size is {}", size));
  const ElementType type = d.type(x);
  const ScalarExpr alpha = number(type, float_attribute(d.attributes(), "alpha", 1e-4) / static_cast<double>(size));
  const double beta = float_attribute(d.attributes(), "beta", 0.75);
  const ScalarExpr bias = number(type, float_attribute(d.attributes(), "bias", 1));

  StageDraft squares(d, "squares");
  auto window = squares.axes(shape);
  const IndexExpr r = squares.reduction_axis("r0", size);
  window[1] += r - (size - 1) / 2;
  const ScalarExpr neighbour = squares.read(x, window, 0.0);
  const ScalarExpr base = bias + alpha * scalar_accumulator(type);
  // A power costs a logarithm and an exponential, several times what square roots do. Nearly every network has 0.75.
  const bool by_roots = beta == 0.5 || beta == 0.75;
  const ScalarExpr finish =
      by_roots ? scalar_unary(UnaryOp::sqrt, base) : scalar_binary(BinaryOp::power, base, number(type, beta));
  const StageTensorId sum = squares.intermediate("S", Reduction::sum, neighbour * neighbour, finish);

  StageDraft normalize(d, "normalize");
  const auto at = normalize.axes(shape);
  const ScalarExpr element = normalize.read(x, at);
  const ScalarExpr root = normalize.read(sum, at);
  normalize.output(element / (beta == 0.75 ? root * scalar_unary(UnaryOp::sqrt, root) : root));
  return d.done();
}

}  // namespace

std::vector<OperatorRow> normalization_rows() {
  const AttributeRow epsilon = {"epsilon", "float", false, "added to the variance, default 1e-5"};
  const AttributeRow first_axis = {"axis", "int", false, "first of the axes normalised over, default -1"};
  return {
      {"BatchNormalization",
       "(x - mean) * scale / sqrt(var + epsilon) + B, per channel",
       {"X", "scale", "B", "mean", "var"},
       5,
       {epsilon},
       guarded<batch_normalization>},
      {"InvStdDev",
       "1 / sqrt(variance + epsilon) over the last axes, which stay with extent 1; what the third output of "
       "LayerNormalization is, alone",
       {"X"},
       1,
       {first_axis, epsilon},
       guarded<inv_std_dev>},
      {"LRN",
       "x / (bias + alpha/size * sum of squares of neighbouring channels) to the power beta",
       {"X"},
       1,
       {{"alpha", "float", false, "default 0.0001"},
        {"beta", "float", false, "default 0.75"},
        {"bias", "float", false, "default 1"},
        {"size", "int", true, "channels summed over"}},
       guarded<lrn>,
       {"Y"},
       ReducesOver::neighbours},
      {"LayerNormalization",
       "(x - mean) / sqrt(variance + epsilon) * Scale + B over the last axes",
       {"X", "Scale", "B"},
       2,
       {first_axis, epsilon},
       guarded<layer_normalization>,
       {"Y", "Mean", "InvStdDev"},
       ReducesOver::axes},
      {"Softmax",
       "e to the power x, divided by the sum of that over the axes",
       {"X"},
       1,
       {{"axes", "ints", false, "axes summed over; absent: the one of attribute axis"},
        {"axis", "int", false, "axis summed over, default -1"}},
       guarded<softmax>,
       {"Y"},
       ReducesOver::axes},
  };
}

}  // namespace stowage::operators
