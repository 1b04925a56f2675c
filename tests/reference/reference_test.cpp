// SPDX-License-Identifier: Apache-2.0
#include "core/reference/reference.h"

#include <catch2/catch.hpp>

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
