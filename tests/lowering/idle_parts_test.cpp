// SPDX-License-Identifier: Apache-2.0
// Splits with more parts than have elements, so that rows of the mesh are whole.
#include <catch2/catch.hpp>

#include "core/evaluate.h"
#include "fixtures.h"
#include "lowering/interpret/interpret.h"
#include "lowering/model/idle_parts.h"
#include "lowering/program/plan_group.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "tests/lowering/relative_error.h"

namespace stowage::idle_parts_test {
namespace {

TEST_CASE("parts of equal size leave some empty, and rows want a divisor of the cores", "[sharing]") {
  CHECK(filled_parts(7, 8) == 7);
  CHECK(filled_parts(14, 8) == 7);
  CHECK(filled_parts(16, 8) == 8);
  CHECK(filled_parts(12, 16) == 12);
  CHECK(filled_parts(0, 4) == 1);
  CHECK(parts_in_rows(7, 64) == 8);
  CHECK(parts_in_rows(8, 64) == 8);
  CHECK(parts_in_rows(12, 64) == 16);
  CHECK(parts_in_rows(33, 64) == 64);
  CHECK(parts_in_rows(4, 6) == 6);
  CHECK(parts_in_rows(70, 64) == 70);
  CHECK(numbers_of_parts(7, 8) == std::vector<std::int64_t>{8, 7, 4, 3, 2, 1});
  CHECK(numbers_of_parts(3, 8) == std::vector<std::int64_t>{4, 3, 2, 1});
  CHECK(numbers_of_parts(8, 8) == std::vector<std::int64_t>{8, 4, 3, 2, 1});
}

Target eight_cores() {
  Target target;
  target.name = "mesh";
  target.cores.count = 8;
  target.cores.mesh_rows = 2;
  target.cores.mesh_columns = 4;
  target.dma.row_broadcast = true;
  target.dma.bandwidth = {{4, 4e9}};
  return target;
}

Planned product_over(std::int64_t parts, const Target& target) {
  Schedule fixed;
  fixed.parallel = {{{"y", 2}, {"x", parts}}};
  fixed.buffer = {{"x", 1}, {"y", 32}, {"k", 8}};
  fixed.slots = {{"B", 2}};
  fixed.sharing = {{"A", SharedBy::core}, {"B", SharedBy::row}};
  return plan_group("product", fixtures::matmul_stages(3, 64, 16), fixed, SwtvmPlanner(), target, {});
}

TEST_CASE("3 rows of a product over 4 cores load the other operand together", "[sharing]") {
  const Target target = eight_cores();
  const Planned result = product_over(4, target);
  REQUIRE(std::holds_alternative<Plan>(result));
  const Plan& plan = std::get<Plan>(result);
  INFO(to_text(plan.nest));
  CHECK(verify(plan.nest, target).value_or("sound") == "sound");
  CHECK(verify_results(plan.nest, target).value_or("sound") == "sound");

  // B: 2 trips of 8 x 32 floats for each of two rows; A: 2 trips of 8 floats on 3 of 4 cores; C: 32 floats on these.
  const DmaTotals moved = dma_totals(plan.counts);
  CHECK(moved.bytes == 2 * 2 * 8 * 32 * 4 + 2 * 6 * 8 * 4 + 6 * 32 * 4);
  CHECK(moved.transfers == 2 * 2 + 2 * 6 + 6);

  const auto counting = [](Shape shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) - 8;
    return Tensor::of_floats(std::move(shape), values);
  };
  const Tensor a = counting({3, 16}), b = counting({16, 64});
  const Tensor computed = interpret(plan.nest, {{StageTensorId(0), a}, {StageTensorId(1), b}}).at(StageTensorId(2));
  CHECK(test::relative_error(evaluate(plan.nest.stages, std::vector{a, b})[StageTensorId(2)], computed) == 0);
}

TEST_CASE("no more parts are empty than whole rows want", "[sharing]") {
  const Planned result = product_over(5, eight_cores());
  REQUIRE(std::holds_alternative<Decision>(result));
  CHECK(std::get<Decision>(result).reason == "parallel: x has 3 elements and cannot be cut into 5 parts");
  CHECK(std::get<Decision>(result).flip == "at most 4 parts");
}

}  // namespace
}  // namespace stowage::idle_parts_test
