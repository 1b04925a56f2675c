// SPDX-License-Identifier: Apache-2.0
// Operators that compute each output element from the operands' elements at the same place, with broadcasting.
#include <algorithm>

#include <fmt/format.h>

#include "core/operators/define.h"

namespace stowage::operators {
namespace {

enum class Types { floats, numbers, any };

void require(const Definer& d, Types types, StageTensorId tensor) {
  if (types == Types::floats) d.require_floats({tensor});
  if (types == Types::numbers) d.require_numbers({tensor});
}

/// One operand; `formula` gives the result from its element.
template <Types types, ScalarExpr (*formula)(const Definer&, const ScalarExpr&)>
OperatorDefinition unary(Definer& d) {
  const StageTensorId x = d.operand(0);
  require(d, types, x);
  StageDraft stage(d, "map");
  const auto at = stage.axes(d.shape(x));
  stage.output(formula(d, stage.read(x, at)));
  return d.done();
}

/// Two or more operands of one type, combined from left to right.
template <Types types, ScalarExpr (*formula)(ScalarExpr, ScalarExpr)>
OperatorDefinition combine(Definer& d) {
  const std::vector<StageTensorId> operands = d.operands();
  require(d, types, operands.front());
  d.require_same_type(operands);
  StageDraft stage(d, "map");
  stage.axes(broadcast_shape(d, operands));
  ScalarExpr value = stage.read_broadcast(operands.front());
  for (std::size_t i = 1; i < operands.size(); ++i) value = formula(value, stage.read_broadcast(operands[i]));
  stage.output(value);
  return d.done();
}

template <UnaryOp op>
ScalarExpr apply(const Definer&, const ScalarExpr& x) {
  return scalar_unary(op, x);
}

template <BinaryOp op>
ScalarExpr apply(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(op, std::move(a), std::move(b));
}

template <BinaryOp op>
ScalarExpr apply_swapped(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(op, std::move(b), std::move(a));
}

ScalarExpr attribute(const Definer& d, const ScalarExpr& x, const std::string& name, double fallback) {
  return number(x->type, float_attribute(d.attributes(), name, fallback));
}

ScalarExpr clamp01(const ScalarExpr& x) { return min(max(x, number(x->type, 0)), number(x->type, 1)); }

ScalarExpr relu(const Definer&, const ScalarExpr& x) { return max(x, number(x->type, 0)); }

ScalarExpr leaky_relu(const Definer& d, const ScalarExpr& x) {
  return scalar_select(less(x, number(x->type, 0)), x * attribute(d, x, "alpha", 0.01), x);
}

ScalarExpr sigmoid(const Definer&, const ScalarExpr& x) {
  const ScalarExpr one = number(x->type, 1);
  return one / (one + scalar_unary(UnaryOp::exp, scalar_unary(UnaryOp::negate, x)));
}

ScalarExpr hard_sigmoid(const Definer& d, const ScalarExpr& x) {
  return clamp01(x * attribute(d, x, "alpha", 0.2) + attribute(d, x, "beta", 0.5));
}

ScalarExpr hard_swish(const Definer&, const ScalarExpr& x) {
  return x * clamp01(x * number(x->type, 1.0 / 6) + number(x->type, 0.5));
}

ScalarExpr negation(const Definer& d, const ScalarExpr& x) {
  if (x->type != ElementType::boolean) d.refuse("unsupported-element-type", "Not of numbers");
  return scalar_unary(UnaryOp::logical_not, x);
}

OperatorDefinition p_relu(Definer& d) {
  const StageTensorId x = d.operand(0);
  const StageTensorId slope = d.operand(1);
  d.require_numbers({x});
  d.require_same_type({x, slope});
  const Shape shape = d.shape(x);
  if (broadcast_shape(d, shape, d.shape(slope)) != shape) {
    d.refuse("shape-mismatch",
             fmt::format("slope of shape {} does not broadcast to {}", to_text(d.shape(slope)), to_text(shape)));
  }
  StageDraft stage(d, "map");
  const auto at = stage.axes(shape);
  const ScalarExpr element = stage.read(x, at);
  const ScalarExpr factor = stage.read_broadcast(slope);
  stage.output(scalar_select(less(element, number(element->type, 0)), element * factor, element));
  return d.done();
}

OperatorDefinition clip(Definer& d) {
  const StageTensorId x = d.operand(0);
  d.require_numbers({x});
  d.require_same_type(d.operands());
  StageDraft stage(d, "map");
  const auto at = stage.axes(d.shape(x));
  ScalarExpr value = stage.read(x, at);
  for (const bool low : {true, false}) {
    const std::size_t slot = low ? 1 : 2;
    const std::string name = low ? "min" : "max";
    ScalarExpr limit;
    if (d.has(slot)) {
      const StageTensorId operand = d.operand(slot);
      if (element_count(d.shape(operand)) != 1) {
        d.refuse("shape-mismatch",
                 fmt::format("operand {} of shape {} is not a scalar", name, to_text(d.shape(operand))));
      }
      limit = stage.read(operand, std::vector<IndexExpr>(d.shape(operand).size(), IndexExpr(0)));
    } else if (d.has_attribute(name)) {
      limit = attribute(d, value, name, 0);
    }
    if (limit) value = low ? max(value, limit) : min(value, limit);
  }
  stage.output(value);
  return d.done();
}

OperatorDefinition power(Definer& d) {
  const StageTensorId x = d.operand(0);
  const StageTensorId y = d.operand(1);
  d.require_numbers({x, y});
  StageDraft stage(d, "map");
  stage.axes(broadcast_shape(d, {x, y}));
  const ScalarExpr base = stage.read_broadcast(x);
  const ScalarExpr exponent = stage.read_broadcast(y);
  // The result has the base's type; an integer base with a broken exponent is computed in f64 in between.
  const ElementType type = is_float(base->type) || !is_float(exponent->type) ? base->type : ElementType::f64;
  const ScalarExpr value = scalar_binary(BinaryOp::power, scalar_cast(type, base), scalar_cast(type, exponent));
  stage.output(scalar_cast(base->type, value));
  return d.done();
}

OperatorDefinition cast(Definer& d) {
  const StageTensorId x = d.operand(0);
  const std::string to = string_attribute(d.attributes(), "to", "");
  const auto type = element_type_named(to);
  if (!type) d.refuse("bad-attribute", fmt::format("there is no element type '{}'", to));
  if (*type == ElementType::f16 || *type == ElementType::bf16) {
    d.refuse("unsupported-element-type", fmt::format("Cast to {} elements", to), "convert the network to float32");
  }
  StageDraft stage(d, "map");
  const auto at = stage.axes(d.shape(x));
  stage.output(scalar_cast(*type, stage.read(x, at)));
  return d.done();
}

OperatorDefinition where(Definer& d) {
  const StageTensorId condition = d.operand(0);
  const StageTensorId x = d.operand(1);
  const StageTensorId y = d.operand(2);
  if (d.type(condition) != ElementType::boolean) {
    d.refuse("type-mismatch", fmt::format("the condition is {}, bool was wanted", name_of(d.type(condition))));
  }
  d.require_same_type({x, y});
  StageDraft stage(d, "map");
  stage.axes(broadcast_shape(d, {condition, x, y}));
  const ScalarExpr test = stage.read_broadcast(condition);
  const ScalarExpr if_true = stage.read_broadcast(x);
  const ScalarExpr if_false = stage.read_broadcast(y);
  stage.output(scalar_select(test, if_true, if_false));
  return d.done();
}

template <BinaryOp op>
OperatorDefinition logical(Definer& d) {
  for (const StageTensorId operand : d.operands()) {
    if (d.type(operand) != ElementType::boolean) d.refuse("unsupported-element-type", "a logical operator of numbers");
  }
  return combine<Types::any, apply<op>>(d);
}

constexpr Types floats = Types::floats;
constexpr Types numbers = Types::numbers;
constexpr Types any = Types::any;

}  // namespace

std::vector<OperatorRow> element_wise_rows() {
  return {
      {"Abs", "|x|", {"X"}, 1, {}, guarded<unary<numbers, apply<UnaryOp::abs>>>},
      {"Add", "A + B", {"A", "B"}, 2, {}, guarded<combine<numbers, apply<BinaryOp::add>>>},
      {"And", "A and B", {"A", "B"}, 2, {}, guarded<logical<BinaryOp::logical_and>>},
      {"Cast",
       "converts to another element type, as C does",
       {"X"},
       1,
       {{"to", "string", true, "element type: f32, f64, i8 … u64, bool"}},
       guarded<cast>},
      {"Ceil", "smallest integer not below x", {"X"}, 1, {}, guarded<unary<floats, apply<UnaryOp::ceil>>>},
      {"Clip",
       "min(max(x, min), max); bounds are scalar operands or attributes, or absent",
       {"X", "min", "max"},
       1,
       {{"min", "float", false, "lower bound, where the operand is absent"},
        {"max", "float", false, "upper bound, where the operand is absent"}},
       guarded<clip>},
      {"Div",
       "A / B; of integers truncated towards zero",
       {"A", "B"},
       2,
       {},
       guarded<combine<numbers, apply<BinaryOp::divide>>>},
      {"Equal", "A == B", {"A", "B"}, 2, {}, guarded<combine<any, apply<BinaryOp::equal>>>},
      {"Erf", "error function", {"X"}, 1, {}, guarded<unary<floats, apply<UnaryOp::erf>>>},
      {"Exp", "e to the power x", {"X"}, 1, {}, guarded<unary<floats, apply<UnaryOp::exp>>>},
      {"Floor", "largest integer not above x", {"X"}, 1, {}, guarded<unary<floats, apply<UnaryOp::floor>>>},
      {"Greater", "A > B", {"A", "B"}, 2, {}, guarded<combine<numbers, apply_swapped<BinaryOp::less>>>},
      {"GreaterOrEqual", "A >= B", {"A", "B"}, 2, {}, guarded<combine<numbers, apply_swapped<BinaryOp::less_equal>>>},
      {"HardSigmoid",
       "min(max(alpha*x + beta, 0), 1)",
       {"X"},
       1,
       {{"alpha", "float", false, "default 0.2"}, {"beta", "float", false, "default 0.5"}},
       guarded<unary<floats, hard_sigmoid>>},
      {"HardSwish", "x * min(max(x/6 + 1/2, 0), 1)", {"X"}, 1, {}, guarded<unary<floats, hard_swish>>},
      {"LeakyRelu",
       "x, times alpha where x is negative",
       {"X"},
       1,
       {{"alpha", "float", false, "default 0.01"}},
       guarded<unary<floats, leaky_relu>>},
      {"Less", "A < B", {"A", "B"}, 2, {}, guarded<combine<numbers, apply<BinaryOp::less>>>},
      {"LessOrEqual", "A <= B", {"A", "B"}, 2, {}, guarded<combine<numbers, apply<BinaryOp::less_equal>>>},
      {"Log", "natural logarithm", {"X"}, 1, {}, guarded<unary<floats, apply<UnaryOp::log>>>},
      {"Max", "largest of the operands", {"X", "…"}, 1, {}, guarded<combine<numbers, apply<BinaryOp::maximum>>>},
      {"Min", "smallest of the operands", {"X", "…"}, 1, {}, guarded<combine<numbers, apply<BinaryOp::minimum>>>},
      {"Mul", "A * B", {"A", "B"}, 2, {}, guarded<combine<numbers, apply<BinaryOp::multiply>>>},
      {"Neg", "-x", {"X"}, 1, {}, guarded<unary<numbers, apply<UnaryOp::negate>>>},
      {"Not", "not x", {"X"}, 1, {}, guarded<unary<any, negation>>},
      {"Or", "A or B", {"A", "B"}, 2, {}, guarded<logical<BinaryOp::logical_or>>},
      {"PRelu",
       "x, times slope where x is negative; the slope broadcasts to x",
       {"X", "slope"},
       2,
       {},
       guarded<p_relu>},
      {"Pow", "X to the power Y, in the type of X", {"X", "Y"}, 2, {}, guarded<power>},
      {"Relu", "max(x, 0)", {"X"}, 1, {}, guarded<unary<numbers, relu>>},
      {"Sigmoid", "1 / (1 + e to the power -x)", {"X"}, 1, {}, guarded<unary<floats, sigmoid>>},
      {"Sqrt", "square root", {"X"}, 1, {}, guarded<unary<floats, apply<UnaryOp::sqrt>>>},
      {"Sub", "A - B", {"A", "B"}, 2, {}, guarded<combine<numbers, apply<BinaryOp::subtract>>>},
      {"Sum", "sum of the operands", {"X", "…"}, 1, {}, guarded<combine<numbers, apply<BinaryOp::add>>>},
      {"Tanh", "hyperbolic tangent", {"X"}, 1, {}, guarded<unary<floats, apply<UnaryOp::tanh>>>},
      {"Where", "X where the condition holds, Y elsewhere", {"condition", "X", "Y"}, 3, {}, guarded<where>},
  };
}

}  // namespace stowage::operators
