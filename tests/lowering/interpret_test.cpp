// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "core/check.h"
#include "fixtures.h"
#include "lowering/interpret/interpret.h"

namespace stowage::interpret_test {
namespace {

Tensor random_tensor(std::mt19937& random, const Shape& shape) {
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = draw(random);
  return Tensor::of_floats(shape, values);
}

TEST_CASE("matmul of the paper computes a matrix product", "[interpret]") {
  std::mt19937 random(1);
  const Tensor a = random_tensor(random, {1, 1024}), b = random_tensor(random, {1024, 1024});
  const auto results = interpret(fixtures::paper_matmul(), {{StageTensorId(0), a}, {StageTensorId(1), b}});
  REQUIRE(results.size() == 1);
  const Tensor& c = results.at(StageTensorId(2));
  REQUIRE(c.shape() == Shape{1, 1024});
  for (std::int64_t y = 0; y < 1024; ++y) {
    double sum = 0;
    for (std::int64_t k = 0; k < 1024; ++k) sum += a.as_double(k) * b.as_double(k * 1024 + y);
    REQUIRE(c.as_double(y) == Approx(sum).margin(1e-4));
  }
}

TEST_CASE("padded strided convolution computes its edges", "[interpret]") {
  std::mt19937 random(2);
  const Tensor x = random_tensor(random, {3, 11, 11}), w = random_tensor(random, {4, 3, 3, 3});
  const Tensor y =
      interpret(fixtures::padded_convolution(), {{StageTensorId(0), x}, {StageTensorId(1), w}}).at(StageTensorId(2));
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t i = 0; i < 6; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        double sum = 0;
        for (std::int64_t c = 0; c < 3; ++c) {
          for (std::int64_t r = 0; r < 3; ++r) {
            for (std::int64_t s = 0; s < 3; ++s) {
              const std::int64_t row = 2 * i + r - 1, column = 2 * j + s - 1;
              if (row < 0 || row >= 11 || column < 0 || column >= 11) continue;
              sum += x.as_double((c * 11 + row) * 11 + column) * w.as_double(((k * 3 + c) * 3 + r) * 3 + s);
            }
          }
        }
        CAPTURE(k, i, j);
        REQUIRE(y.as_double((k * 6 + i) * 6 + j) == Approx(sum).margin(1e-5));
      }
    }
  }
}

TEST_CASE("a ragged chain returns its intermediate too", "[interpret]") {
  std::mt19937 random(3);
  const Tensor a = random_tensor(random, {1000}), b = random_tensor(random, {1000});
  const auto results = interpret(fixtures::ragged_chain(), {{StageTensorId(0), a}, {StageTensorId(1), b}});
  REQUIRE(results.size() == 2);
  for (std::int64_t i = 0; i < 1000; ++i) {
    const float sum = static_cast<float>(a.as_double(i)) + static_cast<float>(b.as_double(i));
    REQUIRE(results.at(StageTensorId(2)).as_double(i) == sum);
    REQUIRE(results.at(StageTensorId(3)).as_double(i) == 2 * std::max(sum, 0.0F));
  }
}

TEST_CASE("what is never awaited never arrives", "[interpret]") {
  fixtures::NestBuilder build("chain", fixtures::ragged_chain().stages);
  const NestTensorId a = build.tensor(0), y = build.tensor(3, true);
  const BufferId aa = build.buffer("AA", 0, {6}, {0});
  const BufferId tt = build.buffer("TT", 2, {6}, {0});
  const BufferId yy = build.buffer("YY", 3, {6}, {0});
  build.get(a, aa, {{0, 6}});
  Compute add;
  add.output_buffer = tt;
  add.read_buffers = {aa, aa};
  build.compute(add, {{0, 6}});
  Compute relu;
  relu.stage = StageId(1);
  relu.output_buffer = yy;
  relu.read_buffers = {tt};
  build.compute(relu, {{0, 6}});
  build.wait(build.put(y, yy, {{0, 6}}));
  const Tensor ones = Tensor::of_floats({1000}, std::vector<float>(1000, 1.0F));
  const auto results = interpret(std::move(build).build(), {{StageTensorId(0), ones}});
  CHECK(std::isnan(results.at(StageTensorId(2)).as_double(0)));
  CHECK(std::isnan(results.at(StageTensorId(3)).as_double(0)));
}

TEST_CASE("touching beyond a buffer is reported with numbers", "[interpret]") {
  fixtures::NestBuilder build("chain", fixtures::ragged_chain().stages);
  const NestTensorId a = build.tensor(0);
  const BufferId aa = build.buffer("AA", 0, {6}, {0});
  const BufferId tt = build.buffer("TT", 2, {6}, {0});
  SECTION("by a transfer") {
    build.wait(build.get(a, aa, {{3, 4}}));
    CHECK_THROWS_WITH(
        interpret(std::move(build).build(), {{StageTensorId(0), Tensor::of_floats({1000}, std::vector<float>(1000))}}),
        Catch::Contains("statement 0 moves elements 3..6 of dimension 0 of buffer AA, which has 6"));
  }
  SECTION("by a computation") {
    Compute add;
    add.output_buffer = tt;
    add.read_buffers = {aa, aa};
    build.compute(add, {{1, 6}});
    CHECK_THROWS_WITH(interpret(std::move(build).build(), {}),
                      Catch::Contains("statement 0 touches elements 1..6 of dimension 0 of buffer TT, which has 6"));
  }
}

TEST_CASE("gathered rows and every kind of arithmetic", "[interpret]") {
  // Y[i,j] = select(D[@index, j] < 0, exp(D), i + table[j]) with negative indices counting from the end.
  StageList list;
  list.tensors = {{"D", ElementType::f32, {5, 3}, TensorRole::input, {}, {}},
                  {"I", ElementType::i64, {4}, TensorRole::input, {}, {}},
                  {"Y", ElementType::f32, {4, 3}, TensorRole::output, {}, {}}};
  const auto table = std::make_shared<const IndexTable>(IndexTable{"t", {10, 20, 30}});
  Stage stage;
  stage.name = "gather";
  stage.output = StageTensorId(2);
  stage.axes = {{"i", 4}, {"j", 3}};
  stage.spatial = 2;
  stage.reads = {{StageTensorId(0), {tensor_value(ReadId(1), 5), VarId(1)}, {}}, {StageTensorId(1), {VarId(0)}, {}}};
  const ScalarExpr d = scalar_read(ElementType::f32, ReadId(0));
  const ScalarExpr index =
      scalar_cast(ElementType::f32, scalar_index(ElementType::i32, IndexExpr(VarId(0)) + lookup(table, VarId(1))));
  stage.body = scalar_select(scalar_binary(BinaryOp::less, d, scalar_constant(ElementType::f32, 0)),
                             scalar_unary(UnaryOp::exp, d), index);
  list.stages = {stage};

  fixtures::NestBuilder build("gather", list);
  const NestTensorId data = build.tensor(0), indices = build.tensor(1), y = build.tensor(2, true);
  const BufferId dd = build.buffer("DD", 0, {5, 3}, {0, 0});
  const BufferId ii = build.buffer("II", 1, {4}, {0});
  const BufferId yy = build.buffer("YY", 2, {4, 3}, {0, 0});
  build.wait(build.get(data, dd, {{0, 5}, {0, 3}}));
  build.wait(build.get(indices, ii, {{0, 4}}));
  Compute compute;
  compute.output_buffer = yy;
  compute.read_buffers = {dd, ii};
  build.compute(compute, {{0, 4}, {0, 3}});
  build.wait(build.put(y, yy, {{0, 4}, {0, 3}}));

  std::mt19937 random(4);
  const Tensor values = random_tensor(random, {5, 3});
  const std::vector<std::int64_t> rows = {4, -1, 0, -5};
  const auto results = interpret(std::move(build).build(),
                                 {{StageTensorId(0), values}, {StageTensorId(1), Tensor::of_int64s({4}, rows)}});
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)] < 0 ? rows[static_cast<std::size_t>(i)] + 5
                                                                   : rows[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < 3; ++j) {
      const double element = values.as_double(row * 3 + j);
      const double wanted = element < 0 ? std::exp(element) : static_cast<double>(i + 10 * (j + 1));
      CHECK(results.at(StageTensorId(2)).as_double(i * 3 + j) == Approx(wanted));
    }
  }
}

}  // namespace
}  // namespace stowage::interpret_test
