// SPDX-License-Identifier: Apache-2.0
// A reduction that the cores of a row split: its stages, what cannot be, its nest, and where it wins.
#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <string>

#include "lowering/check/check_nest.h"
#include "lowering/interpret/interpret.h"
#include "lowering/model/split_reductions.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/physical_limit.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "parsed_nest.h"
#include "tests/lowering/fixtures.h"
#include "tests/sunway.h"

namespace stowage::split_reductions_test {
namespace {

using fixtures::sunway;

StageList split(StageList stages, const SplitReductions& parts) {
  auto made = split_reductions(std::move(stages), parts);
  REQUIRE(std::holds_alternative<StageList>(made));
  return std::get<StageList>(std::move(made));
}

std::string refusal(StageList stages, const SplitReductions& parts) {
  const auto made = split_reductions(std::move(stages), parts);
  return std::holds_alternative<Decision>(made) ? std::get<Decision>(made).reason : "";
}

/// A product with a bias that its finish adds, and a bound behind it.
StageList product_and_bound() {
  return parsed(R"(nest test {
  input A f32[4,32]
  input B f32[32,16]
  input bias f32[16]
  intermediate C f32[4,16]
  output Y f32[4,16]
  stage product {
    C[x < 4, y < 16] = sum over k < 32 of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
    #2 = bias[y]
    finish (acc + #2)
  }
  stage bound {
    Y[x < 4, y < 16] = max(#0, 0.0)
    #0 = C[x, y]
  }
  body {
  }
}
)")
      .stages;
}

Schedule with_split(const SplitReductions& parts) {
  Schedule schedule;
  schedule.split = parts;
  return schedule;
}

std::map<StageTensorId, Tensor> whole_numbers(const StageList& stages) {
  std::map<StageTensorId, Tensor> values;
  int next = 0;
  for (const StageTensorId t : stages.tensors.ids()) {
    const StageTensor& tensor = stages.tensors[t];
    if (tensor.role != TensorRole::input) continue;
    std::vector<float> elements(static_cast<std::size_t>(element_count(tensor.shape)));
    for (float& element : elements) element = static_cast<float>((next++ * 7) % 11 - 5);
    values[t] = Tensor::of_floats(tensor.shape, elements);
  }
  return values;
}

/// What the nest of a plan computes, all of whose cores are interpreted, is what the unsplit stages say, to the bit: of
/// whole numbers every order of a sum gives the same.
void check_values(const StageList& stages, const Plan& plan, const Target& target) {
  INFO(to_text(plan.nest));
  REQUIRE(verify(plan.nest, target).value_or("sound") == "sound");
  REQUIRE(verify_results(plan.nest, target).value_or("sound") == "sound");
  const auto unsplit = plan_group("op", stages, {}, SwtvmPlanner(), target, {});
  REQUIRE(std::holds_alternative<Plan>(unsplit));
  const auto computed = [](const LoopNest& nest) {
    return interpret(nest, whole_numbers(nest.stages)).at(nest.stages.stages.back().output);
  };
  const Tensor wanted = computed(std::get<Plan>(unsplit).nest), got = computed(plan.nest);
  REQUIRE(got.shape() == wanted.shape());
  for (std::int64_t i = 0; i < got.size(); ++i) REQUIRE(got.as_double(i) == wanted.as_double(i));
}

}  // namespace

TEST_CASE("a split reduction is one over ranges and one over their results", "[split]") {
  const StageList stages = split(product_and_bound(), {{"k", 8}});
  CHECK(verify(stages).value_or("sound") == "sound");
  CHECK(to_text(stages) == R"(input A f32[4,32]
input B f32[32,16]
input bias f32[16]
intermediate C f32[4,16]
output Y f32[4,16]
intermediate C_parts f32[8,4,16] exchanged
product_parts: C_parts[k_part<8, x<4, y<16] = sum_{k<4} (A[x, 4*k_part + k] * B[4*k_part + k, y])
product: C[x<4, y<16] = sum_{k_part<8} C_parts[k_part, x, y]
  finish (acc + bias[y])
bound: Y[x<4, y<16] = max(C[x, y], 0.0)
)");
  CHECK(to_text(split(stages, {{"k", 8}})) == to_text(stages));
}

TEST_CASE("what cannot be split is refused with the reason", "[split]") {
  CHECK(refusal(product_and_bound(), {{"q", 8}}) ==
        "split_reductions: q cannot be cut into 8 parts: there is no such iterator");
  CHECK(refusal(product_and_bound(), {{"x", 4}}) ==
        "split_reductions: x cannot be cut into 4 parts: it is not reduced");
  CHECK(refusal(product_and_bound(), {{"k", 5}}) ==
        "split_reductions: k cannot be cut into 5 parts: its 32 elements make 4 equal parts");
  CHECK(refusal(product_and_bound(), {{"k", 1}}) ==
        "split_reductions: k cannot be cut into 1 parts: its 32 elements make no equal parts");
  CHECK(refusal(product_and_bound(), {{"k", 4}, {"x", 2}}) ==
        "split_reductions: k cannot be cut into 4 parts: one reduction may be split, once");
}

TEST_CASE("a window is not split, whose parts need different amounts at a border", "[split]") {
  const StageList stages = parsed(R"(nest test {
  input X f32[8]
  output Y f32[8]
  stage pool {
    Y[x < 8] = max over k < 8 of #0
    #0 = X[x + k - 4] else -inf
  }
  body {
  }
}
)")
                               .stages;
  CHECK(refusal(stages, {{"k", 8}}) ==
        "split_reductions: k cannot be cut into 8 parts: what it moves moves with more than it");
}

TEST_CASE("the cores of a row sum parts and add them up", "[split]") {
  const Target target = sunway();
  const StageList stages = product_and_bound();
  const auto planned = plan_group("op", stages, with_split({{"k", 8}}), SwtvmPlanner(), target, {});
  if (const auto* refused = std::get_if<Decision>(&planned)) FAIL(refused->reason);
  const auto& plan = std::get<Plan>(planned);
  check_values(stages, plan, target);
  CHECK(to_text(plan.nest) == R"(nest "op" {
  input A f32[4,32]
  input B f32[32,16]
  input bias f32[16]
  intermediate C f32[4,16]
  output Y f32[4,16]
  intermediate C_parts f32[8,4,16] exchanged
  stage product_parts {
    C_parts[k_part < 8, x < 4, y < 16] = sum over k < 4 of (#0 * #1)
    #0 = A[x, 4*k_part + k]
    #1 = B[4*k_part + k, y]
  }
  stage product {
    C[x < 4, y < 16] = sum over k_part < 8 of #1
    #0 = bias[y]
    #1 = C_parts[k_part, x, y]
    finish (acc + #0)
  }
  stage bound {
    Y[x < 4, y < 16] = max(#0, 0.0)
    #0 = C[x, y]
  }
  variables x_core, y_core, k_part_core, y_at, A_1_at, B_0_at, k_part
  core x_core < 4 of x stride 16
  core y_core < 2 of y stride 8
  core k_part_core < 8 of k_part stride 1
  mesh 8 rows 8 columns
  memory A = A strides [32, 1]
  memory B = B strides [16, 1]
  memory bias = bias strides [1]
  memory Y = Y strides [16, 1] written
  ldm 288 bytes
  buffer A_ldm f32[1,4] at 0, 16 bytes = A[x_core, 4*k_part_core]
  buffer B_ldm f32[4,8] at 32, 128 bytes = B[4*k_part_core, y_at]
  buffer C_parts_ldm f32[1,1,8] at 160, 32 bytes = C_parts[k_part_core, x_core, y_at]
  buffer C_parts_received_ldm f32[1,1,8] at 192, 32 bytes = C_parts[k_part, x_core, y_at]
  buffer bias_ldm f32[8] at 224, 32 bytes = bias[y_at]
  buffer C_ldm f32[1,8] at 256, 32 bytes = C[x_core, y_at]
  buffer Y_ldm f32[1,8] at 256, 32 bytes = Y[x_core, y_at] sharing C_ldm
  body {
    0  let y_at = 8*y_core
    1  let A_1_at = 4*k_part_core
    2  get A[x_core:x_core + 1, A_1_at:A_1_at + 4] -> A_ldm  // A before the first loop
    3  let B_0_at = 4*k_part_core
    4  get B[B_0_at:B_0_at + 4, y_at:y_at + 8] -> B_ldm  // B before the first loop
    5  get bias[y_at:y_at + 8] -> bias_ldm  // bias before the first loop
    6  wait 2
    7  wait 4
    8  wait 5
    9  fill C_parts_ldm with 0 in registers  // initialisation of C_parts
   10  compute update C_parts_ldm = product_parts(A_ldm, B_ldm) over k_part=k_part_core:k_part_core + 1, x=x_core:x_core + 1, y=y_at:y_at + 8, k=0:4 as register_block lane y
   11  fill C_ldm with 0 in registers  // initialisation of C
   12  for k_part < 8 of k_part {
   13    broadcast C_parts_ldm of column k_part -> C_parts_received_ldm of row over [k_part:k_part + 1, x_core:x_core + 1, y_at:y_at + 8]  // parts of product
   14    wait 13
   15    compute update C_ldm = product(_, C_parts_received_ldm) over x=x_core:x_core + 1, y=y_at:y_at + 8, k_part=k_part:k_part + 1 as register_block lane y
       }
   16  compute finish C_ldm = product(bias_ldm, _) over x=x_core:x_core + 1, y=y_at:y_at + 8 as vector lane y
   17  compute map Y_ldm = bound(C_ldm) over x=x_core:x_core + 1, y=y_at:y_at + 8 as vector lane y
   18  if any(1 - k_part_core) > 0 {
   19    put Y_ldm -> Y[x_core:x_core + 1, y_at:y_at + 8]  // Y after the last loop
   20    wait 19
       }
  }
}
)");
}

TEST_CASE("a broadcast along rows that are not full, or that there are not, is a fault of the nest", "[split]") {
  const auto planned = plan_group("op", product_and_bound(), with_split({{"k", 8}}), SwtvmPlanner(), sunway(), {});
  REQUIRE(std::holds_alternative<Plan>(planned));
  LoopNest nest = std::get<Plan>(planned).nest;
  const auto first_fault = [&] {
    const NestCheck check = check_nest(nest, sunway());
    return check.faults.empty() ? std::string() : check.faults.front().what;
  };
  CHECK(first_fault().empty());
  nest.mesh->columns = 7;
  CHECK(first_fault() == "the nest's cores are in 8 rows of 7, those of sw26010 in 8 of 8");
  nest.mesh.reset();
  CHECK(first_fault() == "cores load together, and the nest does not say in which rows and columns they are");
}

TEST_CASE("the parts of a split sum have no loop, as each core has one", "[split]") {
  const StageList stages = fixtures::matmul_stages(4, 16, 64);
  Schedule fixed = with_split({{"k", 8}});
  fixed.parallel = {{"k_part", 8}};
  fixed.buffer = {{"k_part", 1}, {"k", 2}, {"x", 2}, {"y", 4}};
  const auto planned = plan_group("op", stages, fixed, SwtvmPlanner(), sunway(), {});
  if (const auto* refusal = std::get_if<Decision>(&planned)) FAIL(refusal->reason);
  const auto& plan = std::get<Plan>(planned);
  CHECK(plan.schedule.order == std::vector<std::string>{"xo", "yo", "ko"});
  check_values(stages, plan, sunway());
  fixed.order = {"xo", "yo", "k_part", "ko"};
  const auto refused = plan_group("op", stages, fixed, SwtvmPlanner(), sunway(), {});
  REQUIRE(std::holds_alternative<Decision>(refused));
  CHECK(std::get<Decision>(refused).reason ==
        "order: there is no outer loop 'k_part' with these buffer sizes; known are: xo, yo, ko");
}

TEST_CASE("few outputs with long sums are split where that takes less", "[split]") {
  const Target target = sunway();
  const StageList stages = fixtures::matmul_stages(16, 16, 8192);
  const auto cycles = [&](const Schedule& fixed) {
    const auto planned = plan_group("op", stages, fixed, SearchedPlanner(), target, {});
    if (const auto* refused = std::get_if<Decision>(&planned)) FAIL(refused->reason);
    return std::get<Plan>(planned).time.cycles;
  };
  const auto planned = plan_group("op", stages, {}, SearchedPlanner(), target, {});
  REQUIRE(std::holds_alternative<Plan>(planned));
  const auto& plan = std::get<Plan>(planned);
  CHECK(plan.schedule.split == SplitReductions{{"k", 8}});
  CHECK(10 * plan.time.cycles < 9 * cycles(with_split({})));
  check_values(stages, plan, target);
  // Splitting is no computation of its own.
  CHECK(physical_limit(plan.nest.stages, target).seconds() == physical_limit(stages, target).seconds());
}

TEST_CASE("a split that cannot be spread over the cores is refused with what can", "[split]") {
  const StageList stages = product_and_bound();
  const auto reason = [&](Schedule fixed, const Target& target) {
    const auto planned = plan_group("op", stages, fixed, SwtvmPlanner(), target, {});
    return std::holds_alternative<Decision>(planned) ? std::get<Decision>(planned).reason : std::string();
  };
  Target no_buses = sunway();
  no_buses.cores.column_broadcast.reset();
  CHECK(reason(with_split({{"k", 8}}), no_buses) ==
        "split_reductions: the parts of k_part are added up over the cores of a row, and target sw26010 "
        "sends nothing along rows (cores.column_broadcast)");
  CHECK(reason(with_split({{"k", 4}}), sunway()) ==
        "split_reductions: k_part has 4 parts, one for each core of a row, which has 8");
  Schedule apart = with_split({{"k", 8}});
  apart.parallel = {{"x", 4}};
  CHECK(reason(apart, sunway()) ==
        "parallel: the grid does not end with the 8 parts of k_part, whose cores make up a row");
  Schedule unsplit;
  unsplit.parallel = {{"k", 8}};
  CHECK(reason(unsplit, sunway()) ==
        "parallel: k is a reduction; splitting it over cores would make them write the same elements");
}

TEST_CASE("no plan over a split sum takes less than its bounds", "[split]") {
  const Target target = sunway();
  for (const auto& [m, n, k] : {std::array{4, 16, 64}, std::array{3, 40, 128}, std::array{16, 16, 1024}}) {
    const StageList stages = split(fixtures::matmul_stages(m, n, k), {{"k", 8}});
    const GroupModel model = build_group_model(stages, target);
    const PlanBounds bounds(model, target);
    int planned = 0;
    for (const CoreGrid& grid : bounds.grids()) {
      Schedule fixed = with_split({{"k", 8}});
      fixed.parallel = grid.parallel;
      CHECK(grid.parallel.back() == ParallelSplit{"k_part", 8});
      const auto plan = plan_group("op", stages, fixed, SwtvmPlanner(), target, {});
      if (std::holds_alternative<Decision>(plan)) continue;
      ++planned;
      INFO(to_text(std::get<Plan>(plan).nest));
      CHECK(grid.least_cycles <= std::get<Plan>(plan).time.cycles);
    }
    CHECK(planned > 0);
  }
}

}  // namespace stowage::split_reductions_test
