// SPDX-License-Identifier: Apache-2.0
// What a vendor's library computes: which operators are one matrix product, of which matrices, at which cost, and what
// follows for the kernels around a call.
#include <fmt/format.h>
#include <cmath>

#include <catch2/catch.hpp>

#include "fusion/facts/views.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/launches.h"
#include "lowering/program/library_plan.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "lowering/program/program.h"
#include "lowering/time/rates.h"
#include "tests/fusion/net.h"

namespace stowage::library_plan_test {
namespace {

Target machine(const std::string& call_seconds, const std::string& efficiency) {
  Diagnostics diagnostics;
  auto target = load_target(
      "sw26010",
      {"use_library=\"xmath\"", "library.xmath.call_seconds=" + call_seconds, "library.xmath.efficiency=" + efficiency},
      diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  return *target;
}

FusedGraph each_alone(const Graph& graph) {
  return find_strategy("none")->fuse(place_tensors(graph, {}, 4), {}, nullptr, {});
}

StageList first_stages(const Graph& graph) {
  const FusedGraph fused = each_alone(graph);
  return group_stages(fused.graph, fused.groups.front());
}

/// "C/30 [24, 30] = A/16 B/30, depth 16" with the row of each matrix, "^T" where its rows lie as columns; or why not.
std::string described(const Graph& graph) {
  const StageList stages = first_stages(graph);
  const auto found = matrix_product(stages);
  if (const auto* refused = std::get_if<Decision>(&found)) {
    CHECK(refused->rule == "library-form");
    return refused->reason;
  }
  const auto& product = std::get<MatrixProduct>(found);
  const auto matrix = [&](const MatrixProduct::Operand& of) {
    return fmt::format("{}/{}{}", stages.tensors[of.tensor].name, of.row, of.transposed ? "^T" : "");
  };
  return fmt::format("{} [{}, {}] = {} {}, depth {}", matrix(product.c), product.m, product.n, matrix(product.a),
                     matrix(product.b), product.k);
}

std::string of_product(Shape left, Shape right, ElementType type = ElementType::f32) {
  testing::Net net;
  const TensorId a = net.input("A", std::move(left), type);
  return described(net.done({net.op("MatMul", "C", {a, net.input("B", std::move(right), type)})}));
}

std::string of_gemm(bool transposed_a, bool transposed_b, Attributes more = {}) {
  testing::Net net;
  const TensorId a = net.input("A", transposed_a ? Shape{5, 3} : Shape{3, 5});
  const TensorId b = net.input("B", transposed_b ? Shape{7, 5} : Shape{5, 7});
  more.emplace("transA", std::int64_t{transposed_a});
  more.emplace("transB", std::int64_t{transposed_b});
  return described(net.done({net.op("Gemm", "C", {a, b}, std::move(more))}));
}

std::string of_convolution(std::int64_t pictures, std::int64_t kernel, std::int64_t stride) {
  testing::Net net;
  return described(net.done({net.conv("conv", net.input("x", {pictures, 16, 6, 5}), 24, kernel, stride)}));
}

LibraryPlan cube(std::int64_t extent, const Target& target) {
  testing::Net net;
  const TensorId a = net.input("A", {extent, extent});
  StageList stages = first_stages(net.done({net.op("MatMul", "C", {a, net.input("B", {extent, extent})})}));
  return std::get<LibraryPlan>(plan_by_library(std::move(stages), std::nullopt, 0, target));
}

/// Between kernels a product, of which a library without a time of its own makes more than a loop nest and a spawn.
FusedGraph product_between() {
  testing::Net net("between");
  const TensorId a = net.op("Relu", "before", {net.input("x", {512, 512})});
  const TensorId b = net.op("MatMul", "product", {a, net.input("w", {512, 512})});
  const TensorId c = net.op("Softmax", "after", {b});
  return each_alone(net.done({net.op("Softmax", "last", {c})}));
}

Result<Program> planned(const Target& target, Diagnostics& diagnostics,
                        const std::map<std::string, Schedule>& schedules = {}) {
  return plan_program(product_between(), schedules, *find_planner("searched"), target, {}, diagnostics);
}

}  // namespace

TEST_CASE("a library's product is of matrices by rows or by columns") {
  CHECK(of_product({5, 3}, {3, 7}) == "C_out/7 [5, 7] = A/3 B/7, depth 3");
  CHECK(of_product({2, 5, 3}, {3, 7}) == "C_out/7 [10, 7] = A/3 B/7, depth 3");
  CHECK(of_gemm(false, false) == "C_out/7 [3, 7] = A/5 B/7, depth 5");
  CHECK(of_gemm(true, false) == "C_out/7 [3, 7] = A/3^T B/7, depth 5");
  CHECK(of_gemm(false, true) == "C_out/7 [3, 7] = A/5 B/5^T, depth 5");
  CHECK(of_gemm(true, true) == "C_out/7 [3, 7] = A/3^T B/5^T, depth 5");
  CHECK(of_convolution(1, 1, 1) == "conv_out/30 [24, 30] = conv_w/16 x/30, depth 16");

  // A result that lies beside another one in the memory of a third has that one's rows.
  testing::Net net;
  const TensorId a = net.input("A", {5, 3});
  const TensorId left = net.op("MatMul", "left", {a, net.input("B", {3, 7})});
  const TensorId right = net.op("MatMul", "right", {a, net.input("D", {3, 4})});
  const Graph graph = net.done({net.op("Concat", "beside", {left, right}, {{"axis", std::int64_t{1}}})});
  CHECK(described(graph) == "left_out/11 [5, 7] = A/3 B/7, depth 3");
}

TEST_CASE("what is more than a product, or less, is not the library's") {
  CHECK(of_product({2, 5, 3}, {2, 3, 7}).find("runs through other operands than a product's do") != std::string::npos);
  CHECK(of_product({5, 3}, {3, 7}, ElementType::i32).find("'A' is of i32") != std::string::npos);
  CHECK(of_gemm(false, false, {{"alpha", 2.0F}}) != of_gemm(false, false));
  CHECK(of_convolution(1, 3, 1) == "it reads beyond the edges of an operand");
  CHECK(of_convolution(1, 1, 2).find("leaves gaps in an operand") != std::string::npos);
  CHECK(of_convolution(2, 1, 1).find("leaves gaps in an operand") != std::string::npos);
  testing::Net net;
  CHECK(described(net.done({net.op("Relu", "y", {net.input("x", {4, 4})})})) ==
        "it is no sum of products of two operands alone");
}

TEST_CASE("a library's rate is linear between points, constant beyond them and proportional below") {
  const std::string points = "[{extent=32,share=0.25},{extent=96,share=0.75}]";
  const Target target = machine("20e-6", points);
  const auto product_cycles = [&](std::int64_t extent) { return cube(extent, target).terms()[1].cycles; };
  CHECK(product_cycles(16) == 2 * 16 * 16 * 16 / 64);   // an eighth of 512 operations a cycle
  CHECK(product_cycles(32) == 2 * 32 * 32 * 32 / 128);  // a quarter
  CHECK(product_cycles(64) == 2 * 64 * 64 * 64 / 256);  // half
  CHECK(product_cycles(96) == 2 * 96 * 96 * 96 / 384);  // three quarters
  CHECK(product_cycles(192) == 2 * 192 * 192 * 192 / 384);
  const LibraryPlan plan = cube(64, target);
  CHECK(plan.terms()[0].cycles == 29001);  // 20 us at 1.45 GHz, rounded up
  std::int64_t sum = 0;
  for (const PlanTerm& term : plan.terms()) sum += term.cycles;
  CHECK(plan.cycles() == sum);

  // A product that main memory cannot feed takes what its matrices take.
  const Target fast = machine("20e-6", "[{extent=1,share=1}]");
  const LibraryPlan fed = cube(64, fast);
  const double moved = 4.0 * 3 * 64 * 64 / peak_dma_bandwidth(fast) * fast.clock_hz;
  CHECK(fed.terms()[2].cycles > 0);
  CHECK(static_cast<double>(fed.terms()[1].cycles + fed.terms()[2].cycles) == std::ceil(moved));
  CHECK(fed.terms()[1].cycles == 2 * 64 * 64 * 64 / 512);
}

TEST_CASE("the spawn behind a library's call is held against the call") {
  const Target target = machine("0", "[{extent=1,share=1}]");
  const std::int64_t cycles = cube(64, target).cycles();
  const auto judged = [&](std::int64_t nest_cycles, std::int64_t launch_cycles) {
    return plan_by_library(cube(64, target).stages(), nest_cycles, launch_cycles, target);
  };
  CHECK(std::holds_alternative<LibraryPlan>(judged(cycles + 101, 100)));
  const auto refused = judged(cycles + 100, 100);
  REQUIRE(std::holds_alternative<Decision>(refused));
  CHECK(std::get<Decision>(refused).rule == library_cost_rule);
  CHECK(std::get<Decision>(refused).reason.find("and 100 to spawn the kernel behind it") != std::string::npos);
  CHECK(std::holds_alternative<Decision>(judged(cycles, 0)));
  CHECK(std::holds_alternative<LibraryPlan>(judged(cycles + 1, 0)));

  // Strategies count it too; planner swtvm spawns every kernel as it is.
  const FusedGraph fused = product_between();
  const FusedOperator& group = fused.groups[1];
  REQUIRE(group.name == "product");
  for (const char* name : {"searched", "swtvm"}) {
    const Planner& planner = *find_planner(name);
    const auto answer = PlannedGroupCost(planner, target).cost(fused.graph, group);
    const auto call = plan_by_library(group_stages(fused.graph, group), std::nullopt, 0, target);
    const std::int64_t launch = first_launch_cycles(planner, target);
    CHECK((launch > 0) == (std::string(name) == "searched"));
    CHECK(answer.cycles == std::get<LibraryPlan>(call).cycles() + launch);
  }
}

TEST_CASE("a spawn ends where a library is called") {
  const Target target = machine("0", "[{extent=1,share=1}]");
  Diagnostics diagnostics;
  const auto program = planned(target, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(program);
  REQUIRE(program->steps.size() == 4);
  const ProgramStep& call = program->steps[StepId(1)];
  REQUIRE(call.by_library() != nullptr);
  CHECK(call.step_plan() == call.by_library());
  CHECK(call.plan() == nullptr);
  CHECK(first_kernels(program->steps) == std::vector{StepId(0), StepId(2)});
  CHECK(program->steps[StepId(2)].plan()->nest.launch == LaunchedBy::spawn);
  CHECK(program->steps[StepId(3)].plan()->nest.launch == LaunchedBy::barrier);
  const ProgramTotals totals = totals_of(*program);
  CHECK(totals.kernels == 3);
  CHECK(totals.spawns == 2);
  CHECK(totals.of(LibraryCall::kind).steps == 1);
  CHECK(totals.of(LibraryCall::kind).cycles == call.by_library()->cycles());

  Schedule behind;
  behind.launch = LaunchedBy::barrier;
  Diagnostics refused;
  CHECK_FALSE(planned(target, refused, {{"after", behind}}));
  CHECK(format_diagnostics(refused).find("is the first one after work of the library") != std::string::npos);
  // Of a product of which something is fixed a person wants that.
  Schedule spawned;
  spawned.launch = LaunchedBy::spawn;
  const auto fixed = planned(target, diagnostics, {{"product", spawned}});
  REQUIRE(fixed);
  CHECK(fixed->steps[StepId(1)].by_library() == nullptr);
}

}  // namespace stowage::library_plan_test
