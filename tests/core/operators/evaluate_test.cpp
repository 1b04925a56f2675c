// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate.h"

#include <catch2/catch.hpp>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

const IndexExpr i0 = VarId(0);
const IndexExpr i1 = VarId(1);

StageTensor tensor(std::string name, ElementType type, Shape shape, TensorRole role) {
  return {std::move(name), type, std::move(shape), role, {}, {}};
}

/// A stage that writes tensor `output` with one spatial axis per extent.
Stage stage(std::size_t output, const Shape& shape, IdVector<ReadId, Access> reads, ScalarExpr body) {
  Stage s;
  s.name = "s";
  s.output = StageTensorId(output);
  for (std::size_t k = 0; k < shape.size(); ++k) s.axes.push_back({"i" + std::to_string(k), shape[k]});
  s.spatial = shape.size();
  s.reads = std::move(reads);
  s.body = std::move(body);
  return s;
}

}  // namespace

TEST_CASE("evaluate gives every tensor of the list, and stages read earlier ones") {
  StageList list;
  list.tensors = {tensor("x", ElementType::f32, {3}, TensorRole::input),
                  tensor("two", ElementType::f32, {}, TensorRole::constant),
                  tensor("t", ElementType::f32, {3}, TensorRole::intermediate),
                  tensor("y", ElementType::f32, {3}, TensorRole::output)};
  list.tensors[StageTensorId(1)].value = Tensor::scalar(ElementType::f32, 2);
  const ScalarExpr first = scalar_read(ElementType::f32, ReadId(0));
  const ScalarExpr second = scalar_read(ElementType::f32, ReadId(1));
  list.stages = {
      stage(2, {3}, {{StageTensorId(0), {i0}, {}}, {StageTensorId(1), {}, {}}}, first * second),
      stage(3, {3}, {{StageTensorId(2), {i0}, {}}, {StageTensorId(2), {IndexExpr(2) - i0}, {}}}, first + second)};
  REQUIRE_FALSE(verify(list));
  const auto all = evaluate(list, std::vector{counting({3})});
  REQUIRE(all.size() == 4);
  check_floats(all[StageTensorId(1)], {}, {2});
  check_floats(all[StageTensorId(2)], {3}, {0, 2, 4});
  check_floats(all[StageTensorId(3)], {3}, {4, 4, 4});
}

TEST_CASE("a stage longer than one block of the interpreter") {
  const Tensor x = counting({3, 700});
  const auto result = run("Transpose", {}, {x});
  for (std::int64_t k = 0; k < result.size(); ++k) {
    REQUIRE(result.as_double(k) == static_cast<double>(k % 3 * 700 + k / 3));
  }
}

TEST_CASE("indices that mix output and reduction axes in one division") {
  StageList list;
  list.tensors = {tensor("x", ElementType::f32, {4}, TensorRole::input),
                  tensor("y", ElementType::f32, {3}, TensorRole::output)};
  // y[i] = sum_j x[(i + j) / 2], j < 3, with 100 outside of x
  Stage s =
      stage(1, {3}, {{StageTensorId(0), {floor_div(i0 * 2 + i1, 2)}, 100.0}}, scalar_read(ElementType::f32, ReadId(0)));
  s.axes.push_back({"j", 5});
  s.reduction = Reduction::sum;
  list.stages = {s};
  check_floats(evaluate(list, std::vector{counting({4})}).back(), {3},
               {0 + 0 + 1 + 1 + 2, 1 + 1 + 2 + 2 + 3, 2 + 2 + 3 + 3 + 100});
}

TEST_CASE("a finish reads other tensors and indices after the reduction") {
  StageList list;
  list.tensors = {tensor("x", ElementType::f32, {2, 3}, TensorRole::input),
                  tensor("b", ElementType::f32, {2}, TensorRole::input),
                  tensor("y", ElementType::f32, {2}, TensorRole::output)};
  Stage s = stage(2, {2}, {{StageTensorId(0), {i0, i1}, {}}, {StageTensorId(1), {i0}, {}}},
                  scalar_read(ElementType::f32, ReadId(0)));
  s.axes.push_back({"j", 3});
  s.reduction = Reduction::product;
  s.finish = scalar_accumulator(ElementType::f32) +
             scalar_read(ElementType::f32, ReadId(1)) * scalar_index(ElementType::f32, i0 + 1);
  list.stages = {s};
  REQUIRE_FALSE(verify(list));
  check_floats(evaluate(list, std::vector{floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({2}, {10, 20})}).back(), {2},
               {16, 160});
}

TEST_CASE("reductions over nothing leave their identity") {
  StageList list;
  list.tensors = {tensor("x", ElementType::f32, {2, 0}, TensorRole::input),
                  tensor("y", ElementType::f32, {2}, TensorRole::output)};
  Stage s = stage(1, {2}, {{StageTensorId(0), {i0, i1}, {}}}, scalar_read(ElementType::f32, ReadId(0)));
  s.axes.push_back({"j", 0});
  s.reduction = Reduction::product;
  list.stages = {s};
  check_floats(evaluate(list, std::vector{counting({2, 0})}).back(), {2}, {1, 1});
}

TEST_CASE("a definition that breaks its promise to stay inside is a fault of ours") {
  StageList list;
  list.tensors = {tensor("x", ElementType::f32, {2}, TensorRole::input),
                  tensor("y", ElementType::f32, {2}, TensorRole::output)};
  list.stages = {stage(1, {2}, {{StageTensorId(0), {i0 + 1}, {}}}, scalar_read(ElementType::f32, ReadId(0)))};
  CHECK(verify(list) == "stage s: read 0: dimension 0 of x is read at 1..2, it has 2");
  CHECK_THROWS_AS(evaluate(list, std::vector{counting({2})}), InternalError);
  CHECK_THROWS_AS(evaluate(list, std::vector{counting({3})}), InternalError);
  CHECK_THROWS_AS(evaluate(list, std::vector<Tensor>{}), InternalError);
}
