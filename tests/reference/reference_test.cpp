// SPDX-License-Identifier: Apache-2.0
#include "core/reference/reference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "core/evaluate.h"
#include "core/operators.h"
#include "random_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

/// y = relu(x w + x w), z = y reshaped; both are outputs.
Graph small_network() {
  GraphBuilder builder("small");
  Diagnostics diagnostics;
  const std::vector<float> w = {1, -1, 2, -2};
  const TensorId x = builder.add_input("x", ElementType::f32, {1, 2});
  const TensorId weights = builder.add_constant("w", Tensor::of_floats({2, 2}, w));
  const auto product = append_operator(builder, "MatMul", "product", {}, {x, weights}, "p", {}, {}, diagnostics);
  const auto sum = append_operator(builder, "Add", "sum", {}, {*product, *product}, "s", {}, {}, diagnostics);
  const auto relu = append_operator(builder, "Relu", "relu", {}, {*sum}, "y", {}, {}, diagnostics);
  const auto view = append_operator(builder, "Reshape", "view", {{"shape", std::vector<std::int64_t>{2, 1}}}, {*relu},
                                    "z", {}, {}, diagnostics);
  builder.mark_output(*relu);
  builder.mark_output(*view);
  return std::move(builder).build();
}

const std::vector<float> input_values = {3, 4};

}  // namespace

TEST_CASE("the reference runs a network in both modes and tells every value") {
  const Graph graph = small_network();
  const Tensor input = Tensor::of_floats({1, 2}, input_values);
  for (const ReferenceMode mode : {ReferenceMode::onednn, ReferenceMode::plain}) {
    std::vector<std::string> seen;
    const auto outputs = run_reference(graph, std::vector{input}, mode, [&](TensorId id, const Tensor& value) {
      CHECK(value.shape() == graph.tensor(id).shape);
      seen.push_back(graph.tensor(id).name);
    });
    CHECK(seen == std::vector<std::string>{"p", "s", "y", "z"});
    REQUIRE(outputs.size() == 2);
    CHECK(outputs[0].as_double(0) == 22);
    CHECK(outputs[0].as_double(1) == 0);
    CHECK(outputs[1].shape() == Shape{2, 1});
    CHECK(outputs[1].as_double(0) == 22);
  }
}

TEST_CASE("the reference stops between operators") {
  std::stop_source source;
  int values = 0;
  const auto outputs = run_reference(
      small_network(), std::vector{Tensor::of_floats({1, 2}, input_values)}, ReferenceMode::onednn,
      [&](TensorId, const Tensor&) {
        ++values;
        source.request_stop();
      },
      source.get_token());
  CHECK(values == 1);
  CHECK(outputs.empty());
}

TEST_CASE("an index from the input data that points outside is not taken silently") {
  GraphBuilder builder("gather");
  Diagnostics diagnostics;
  const TensorId indices = builder.add_input("i", ElementType::i64, {1});
  const TensorId table = builder.add_constant("t", Tensor::of_floats({2}, input_values));
  const auto picked = append_operator(builder, "Gather", "pick", {}, {table, indices}, "y", {}, {}, diagnostics);
  builder.mark_output(*picked);
  const Graph graph = std::move(builder).build();
  const auto pick = [&](std::int64_t index) {
    return run_reference(graph, std::vector{Tensor::of_int64s({1}, std::vector<std::int64_t>{index})},
                         ReferenceMode::onednn);
  };
  CHECK(pick(-1)[0].as_double(0) == 4);
  CHECK_THROWS_AS(pick(2), IndexOutOfRange);
  CHECK_THROWS_AS(pick(-3), IndexOutOfRange);
}

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
/// NaN, both infinities, both zeros, and finite values up to where exp leaves the range of f32 and beyond.
const std::vector<float> special_values = {nan_value, inf, -inf,   0.0F, -0.0F,   1,     -1,    0.5F,
                                           89,        -89, 104.5F, -120, 1000.0F, -1000, 3e38F, -3e38F};

/// The operator's value in the fast mode, which a check of a compiled network asks for.
Tensor value_of(const std::string& kind, const Attributes& attributes, const std::vector<Tensor>& operands) {
  Case c{kind, attributes, {}};
  for (const Tensor& operand : operands) c.operands.emplace_back(operand);
  return run_operator(graph_of(c), OpId(0), c.operands, ReferenceMode::onednn).front();
}

Tensor floats(const std::vector<float>& values) {
  return Tensor::of_floats({static_cast<std::int64_t>(values.size())}, values);
}

/// The same value, for finite ones to 1e-5 of it or of 1; NaN is NaN, and an infinity the one of the same sign.
bool is_same(double value, double wanted) {
  if (std::isnan(wanted)) return std::isnan(value);
  if (std::isinf(wanted)) return value == wanted;
  return std::abs(value - wanted) <= 1e-5 * std::max(1.0, std::abs(wanted));
}

}  // namespace

TEST_CASE("the reference gives NaN, infinities and values out of range as IEEE and ONNX have them") {
  struct Row {
    std::string kind;
    Attributes attributes;
    std::function<float(float)> wanted;
  };
  const std::vector<Row> rows = {
      {"Abs", {}, [](float x) { return std::abs(x); }},
      {"Clip",
       {{"min", -2.0}, {"max", 3.0}},
       [](float x) { return std::isnan(x) ? x : std::min(std::max(x, -2.0F), 3.0F); }},
      {"Exp", {}, [](float x) { return std::exp(x); }},
      {"LeakyRelu", {{"alpha", 0.25}}, [](float x) { return x < 0 ? 0.25F * x : x; }},
      {"Log", {}, [](float x) { return std::log(x); }},
      {"Relu", {}, [](float x) { return std::isnan(x) ? x : std::max(x, 0.0F); }},
      {"Sigmoid", {}, [](float x) { return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x)))); }},
      {"Sqrt", {}, [](float x) { return std::sqrt(x); }},
      {"Tanh", {}, [](float x) { return std::tanh(x); }},
  };
  for (const Row& row : rows) {
    // Each value alone, so that it meets oneDNN whatever its neighbours are, and all together.
    for (const float x : special_values) {
      const Tensor alone = value_of(row.kind, row.attributes, {floats({x, 1})});
      INFO(row.kind << " of " << x << " gives " << alone.as_double(0));
      CHECK(is_same(alone.as_double(0), static_cast<double>(row.wanted(x))));
      CHECK(is_same(alone.as_double(1), static_cast<double>(row.wanted(1))));
    }
    const Tensor together = value_of(row.kind, row.attributes, {floats(special_values)});
    for (std::size_t i = 0; i < special_values.size(); ++i) {
      INFO(row.kind << " of " << special_values[i]);
      CHECK(is_same(together.as_double(static_cast<std::int64_t>(i)),
                    static_cast<double>(row.wanted(special_values[i]))));
    }
  }
}

TEST_CASE("the reference's Max, Min, Softmax and pools let NaN and infinities through") {
  const Tensor x = floats({nan_value, inf, -inf, 2});
  const auto is = [](const Tensor& value, const std::vector<float>& wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      INFO("element " << i << ": " << value.as_double(static_cast<std::int64_t>(i)));
      CHECK(is_same(value.as_double(static_cast<std::int64_t>(i)), static_cast<double>(wanted[i])));
    }
  };
  is(value_of("Max", {}, {x, floats({1, 1, 1, 1})}), {nan_value, inf, 1, 2});
  is(value_of("Min", {}, {x, floats({1, 1, 1, 1})}), {nan_value, 1, -inf, 1});
  is(value_of("Add", {}, {x, floats({1, -inf, inf, inf})}), {nan_value, nan_value, nan_value, inf});
  is(value_of("Mul", {}, {x, floats({0, 0, -1, inf})}), {nan_value, nan_value, inf, inf});
  is(value_of("Div", {}, {floats({0, 1, -1, inf}), floats({0, 0, 0, inf})}), {nan_value, inf, -inf, nan_value});
  is(value_of("PRelu", {}, {floats({nan_value, -inf, inf, -1}), floats({0, 0, 0, inf})}),
     {nan_value, nan_value, inf, -inf});
  // As numpy computes exp(x - max) / sum: minus infinity has no weight, infinity and NaN leave none of its row.
  is(value_of("Softmax", {}, {floats({-inf, 0, 0})}), {0, 0.5F, 0.5F});
  is(value_of("Softmax", {}, {floats({inf, 0, 0})}), {nan_value, nan_value, nan_value});
  is(value_of("Softmax", {}, {floats({nan_value, 0, 0})}), {nan_value, nan_value, nan_value});
  is(value_of("Softmax", {}, {floats({-inf, -inf})}), {nan_value, nan_value});
  is(value_of("ReduceMax", {{"axes", std::vector<std::int64_t>{0}}}, {floats({1, nan_value, 3})}), {nan_value});
  is(value_of("ReduceMax", {{"axes", std::vector<std::int64_t>{0}}}, {floats({-inf, -inf})}), {-inf});
  is(value_of("MaxPool", {{"kernel_shape", std::vector<std::int64_t>{2}}},
              {Tensor::of_floats({1, 1, 4}, std::vector<float>{-inf, -inf, nan_value, 1})}),
     {-inf, nan_value, nan_value});
  is(value_of("GlobalMaxPool", {}, {Tensor::of_floats({1, 1, 3}, std::vector<float>{1, nan_value, 3})}), {nan_value});
}
