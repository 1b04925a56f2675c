// SPDX-License-Identifier: Apache-2.0
// Cycles of inner loops, counted by hand from the instructions that the emitted code needs.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "fixtures.h"
#include "lowering/ir/rewrite.h"
#include "lowering/simulate/execution_cost.h"
#include "lowering/time/core_costs.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/inner_loop.h"
#include "lowering/time/known_rows.h"
#include "parsed_nest.h"

namespace stowage::inner_loop_test {
namespace {

Target target_with_pipelines() {
  Target target;
  target.clock_hz = 1e9;
  target.cores.vector_flops_per_cycle = Rate(8);
  target.cores.scalar_flops_per_cycle = Rate(2);
  target.cores.pipelines = Pipelines{7, 4, 17, 100};
  target.dma.bandwidth = {{64, 1e10}};
  return target;
}

/// A tile of so many rows, columns and summands, all of C[x,y] += A[x,k] * B[k,y].
LoopNest product(std::int64_t rows, std::int64_t columns, std::int64_t summed, ComputeForm form) {
  fixtures::NestBuilder nest("matmul", fixtures::matmul_stages(rows, columns, summed));
  nest.tensor(0), nest.tensor(1), nest.tensor(2, true);
  Compute compute;
  compute.part = Compute::Part::update;
  compute.read_buffers = {nest.buffer("AA", 0, {rows, summed}, {0, 0}),
                          nest.buffer("BB", 1, {summed, columns}, {0, 0})};
  compute.output_buffer = nest.buffer("CC", 2, {rows, columns}, {0, 0});
  compute.form = form;
  if (form != ComputeForm::scalar) compute.lane_axis = VarId(1);
  if (form == ComputeForm::register_block && rows > 1) compute.block_axis = VarId(0);
  nest.compute(compute, {{0, rows}, {0, columns}, {0, summed}});
  return std::move(nest).build();
}

double cycles_of(const LoopNest& nest) {
  const auto& compute = std::get<Compute>(nest.body.back()->node);
  std::vector<std::int64_t> extents;
  for (const Range& range : compute.box) extents.push_back(range.max_extent);
  return InnerLoop(nest, compute, target_with_pipelines(), {}).cycles(extents);
}

}  // namespace

TEST_CASE("a trip issues on two pipelines, waits for its recurrence, and does nothing beside a division") {
  // The kernel of swGEMM: 16 multiply-adds, 11 messages, loads and branches, in 16 cycles.
  CHECK(TripWork{16, 11, 0, 7, 0}.cycles() == 16);
  CHECK(TripWork{4, 9, 1, 7, 0}.cycles() == 9);
  CHECK(TripWork{4, 4, 8, 7, 0}.cycles() == 8);  // address arithmetic fills both
  CHECK(TripWork{1, 3, 2, 7, 0}.cycles() == 7);
  CHECK(TripWork{1, 3, 2, 0, 17}.cycles() == 3 + 17);
}

TEST_CASE("a register block of four rows by four vectors is bound by its multiply-adds") {
  // A trip: 16 multiply-adds; 4 elements of A, 4 vectors of B and the branch; 64 of them, then 16 accumulators are
  // stored that were loaded before.
  const double group = 64 * 16 + 2 + 2 * 16 + 11;
  CHECK(cycles_of(product(4, 128, 64, ComputeForm::register_block)) == 8 * group);
  const auto of_group = [](double rows, double vectors, double trip) {
    return 64 * trip + 2 + 2 * rows * vectors + 11;
  };
  // One row leaves registers for more vectors: of 32 two groups of 11 and one of 10. Each vector and the element of A
  // are loaded, and there are three addresses and the counter.
  CHECK(cycles_of(product(1, 128, 64, ComputeForm::register_block)) ==
        2 * of_group(1, 11, (11.0 + 13 + 3) / 2) + of_group(1, 10, (10.0 + 12 + 3) / 2));
  // Two and three rows need no more loads than a pipeline has room for.
  CHECK(cycles_of(product(2, 64, 64, ComputeForm::register_block)) == 2 * of_group(2, 8, 16));
  CHECK(cycles_of(product(3, 60, 64, ComputeForm::register_block)) == 3 * of_group(3, 5, 15));
  // Seven rows are four and three; 20 columns beside four rows three vectors and two, beside three rows all five.
  CHECK(cycles_of(product(7, 20, 64, ComputeForm::register_block)) ==
        of_group(4, 3, 12) + of_group(4, 2, 9) + of_group(3, 5, 15));
  // Nine rows of two vectors are five and four, not eight and one that would wait for itself.
  CHECK(cycles_of(product(9, 8, 64, ComputeForm::register_block)) == of_group(5, 2, 10.5) + of_group(4, 2, 9));
}

namespace {

/// 8 columns of 24 rows over so many cores, the last of which may have fewer rows than the others.
LoopNest rows_over_cores(int cores, const IndexExpr& rows_of_core, std::int64_t most) {
  fixtures::NestBuilder nest("matmul", fixtures::matmul_stages(24, 8, 64));
  nest.core("x_core", "x", cores, 1);
  nest.tensor(0), nest.tensor(1), nest.tensor(2, true);
  Compute compute;
  compute.part = Compute::Part::update;
  compute.read_buffers = {nest.buffer("AA", 0, {most, 64}, {0, 0}), nest.buffer("BB", 1, {64, 8}, {0, 0})};
  compute.output_buffer = nest.buffer("CC", 2, {most, 8}, {0, 0});
  compute.form = ComputeForm::register_block;
  compute.lane_axis = VarId(1);
  compute.block_axis = VarId(0);
  nest.compute(compute, {{0, rows_of_core}, {0, 8}, {0, 64}});
  return std::move(nest).build();
}

const IndexExpr first_variable{VarId(0)};

/// A group of so many rows and two vectors.
double group_of(double rows, double trip) { return 64 * trip + 2 + 2 * rows * 2 + 11; }

}  // namespace

TEST_CASE("rows whose number is not known are cut as those of a full tile where they are as many, else in halves") {
  const LoopNest nest = rows_over_cores(2, minimum(13, 24 - first_variable * 13), 13);
  const InnerLoop loop(nest, std::get<Compute>(nest.body.back()->node), target_with_pipelines(), {});
  const auto cycles = [&](std::int64_t rows) { return loop.cycles(std::vector<std::int64_t>{rows, 8, 64}); };
  CHECK(cycles(13) == group_of(7, 14) + group_of(6, 12));
  CHECK(cycles(11) == group_of(8, 16) + group_of(2, 7) + group_of(1, 7));
  CHECK(cycles(4) == group_of(4, 9));
}

TEST_CASE("a few numbers of rows that follow from the nest are cut each into blocks as equal as those of a full tile") {
  const LoopNest nest = rows_over_cores(2, minimum(13, 24 - first_variable * 13), 13);
  const StatementId id = nest.body.back()->id;
  REQUIRE(known_rows(nest) == std::map<StatementId, KnownRows>{{id, {13, 11}}});
  const InnerLoop loop(nest, std::get<Compute>(nest.body.back()->node), target_with_pipelines(), {13, 11});
  const auto cycles = [&](std::int64_t rows) { return loop.cycles(std::vector<std::int64_t>{rows, 8, 64}); };
  CHECK(cycles(13) == group_of(7, 14) + group_of(6, 12));
  CHECK(cycles(11) == group_of(6, 12) + group_of(5, 10.5));

  // Both evaluators cost them so: the core with more rows takes longest.
  const ComputeCounts counted = count_computations(nest);
  const CostTable table = core_costs(nest, counted, {}, target_with_pipelines()).rows;
  REQUIRE(table.size() == 1);
  const auto& cost = std::get<ComputeCost>(table.front().formula);
  CHECK(static_cast<double>(stowage::cycles_of(cost)) == Approx(cycles(13)).margin(1));
  CHECK(cost.points_of_busiest == 13 * 8 * 64);
  const Target target = target_with_pipelines();
  const ExecutionCosts simulated(nest, target);
  const std::vector<std::int64_t> fewer = {11, 8, 64};
  CHECK(static_cast<double>(simulated.compute_cycles(*nest.body.back(), fewer)) == Approx(cycles(11)).margin(1));
}

TEST_CASE("more numbers of rows than have code of their own are not known, and the fewer ones may take longest") {
  const IndexExpr two_fewer_each = 13 - first_variable * 2;
  CHECK(known_rows(rows_over_cores(3, two_fewer_each, 13)).begin()->second == KnownRows{13, 11, 9});
  const LoopNest nest = rows_over_cores(4, two_fewer_each, 13);
  CHECK(known_rows(nest).empty());
  const ComputeCounts counted = count_computations(nest);
  CHECK(counted.begin()->second.points_of_busiest == 13 * 8 * 64);
  const CostTable table = core_costs(nest, counted, {}, target_with_pipelines()).rows;
  REQUIRE(table.size() == 1);
  const auto& cost = std::get<ComputeCost>(table.front().formula);
  CHECK(static_cast<double>(stowage::cycles_of(cost)) ==
        Approx(group_of(8, 16) + group_of(2, 7) + group_of(1, 7)).margin(1));
  CHECK(cost.points_of_busiest == 11 * 8 * 64);
}

TEST_CASE("rows that depend on data are not known") {
  const auto rows_from = [](bool of_data) {
    fixtures::NestBuilder nest("matmul", fixtures::matmul_stages(24, 8, 64));
    nest.core("x_core", "x", 2, 1);
    nest.tensor(0), nest.tensor(1), nest.tensor(2, true);
    Compute compute;
    compute.part = Compute::Part::update;
    compute.read_buffers = {nest.buffer("AA", 0, {13, 64}, {0, 0}), nest.buffer("BB", 1, {64, 8}, {0, 0})};
    compute.output_buffer = nest.buffer("CC", 2, {13, 8}, {0, 0});
    compute.form = ComputeForm::register_block;
    compute.lane_axis = VarId(1);
    compute.block_axis = VarId(0);
    const IndexExpr data = of_data ? value_in(compute.output_buffer, 13) : IndexExpr(0);
    nest.compute(compute, {{0, minimum(13, 24 - first_variable * 13) - data}, {0, 8}, {0, 64}});
    return known_rows(std::move(nest).build());
  };
  CHECK(!rows_from(false).empty());
  CHECK(rows_from(true).empty());
}

TEST_CASE("a sum of products that both run along the lanes is a register block") {
  // A depthwise convolution whose lanes are channels: the weights serve all pixels of a block.
  LoopNest nest = parsed(R"(nest depthwise {
  input T f32[1,10,8]
  input W f32[1,3,8]
  output Y f32[1,8,8]
  stage depthwise {
    Y[c < 1, x < 8, l < 8] = sum over r < 3 of (#0 * #1)
    #0 = T[c, x + r, l]
    #1 = W[c, r, l]
  }
  memory T = T strides [80, 8, 1]
  memory W = W strides [24, 8, 1]
  memory Y = Y strides [64, 8, 1] written
  ldm 16384 bytes
  buffer TT f32[1,10,8] at 0, 320 bytes = T[0, 0, 0]
  buffer WW f32[1,3,8] at 320, 96 bytes = W[0, 0, 0]
  buffer YY f32[1,8,8] at 448, 256 bytes = Y[0, 0, 0]
  body {
    0  compute update YY = depthwise(TT, WW) over c=0:1, x=0:8, l=0:8, r=0:3
  }
}
)");
  const Target target = target_with_pipelines();
  nest.body = edited<Compute>(nest.body, [&](const Stmt&, Compute& compute) {
    choose_form(nest, compute, target);
    CHECK(compute.form == ComputeForm::register_block);
    CHECK(compute.block_axis == VarId(1));
    CHECK(may_have_form(nest, compute, target));
    Compute other = compute;
    other.block_axis = VarId(0);  // along which both move
    CHECK_FALSE(may_have_form(nest, other, target));
    return true;
  });
  // A trip: 8 pixels by 2 vectors, each loaded; 2 vectors of weights and the branch.
  CHECK(cycles_of(nest) == 3 * std::max({16.0, 16.0 + 2 + 1, (16.0 + 19 + 3) / 2}) + 2 + 2 * 16 + 11);
}

TEST_CASE("a map over few lanes is one trip for all of a row's vectors") {
  const auto nest_of = [](std::int64_t rows, const std::string& last) {
    return parsed(fmt::format(R"(nest bias {{
  input T f32[{0},8]
  input B f32[8]
  output Y f32[{0},8]
  stage bias {{
    Y[x < {0}, l < 8] = {1}((#0 + #1), 0.0)
    #0 = T[x, l]
    #1 = B[l]
  }}
  memory T = T strides [8, 1]
  memory B = B strides [1]
  memory Y = Y strides [8, 1] written
  ldm 16384 bytes
  buffer TT f32[{0},8] at 0, {2} bytes = T[0, 0]
  buffer BB f32[8] at 4096, 32 bytes = B[0]
  buffer YY f32[{0},8] at 4128, {2} bytes = Y[0, 0]
  body {{
    0  compute map YY = bias(TT, BB) over x=0:{0}, l=0:8 as vector lane l
  }}
}}
)",
                              rows, last, rows * 32));
  };
  // Two additions, comparisons and selections; two vectors of T, two results and the branch. Those of B come before.
  const double trip = std::max({6.0, 5.0, (6.0 + 5 + 5) / 2});
  CHECK(cycles_of(nest_of(14, "max")) == 14 * trip + 2 + 13);
  // One row, and what has no vectors: a loop over the lanes.
  CHECK(cycles_of(nest_of(1, "max")) == 2 * std::max({3.0, 4.0, (3.0 + 4 + 4) / 2}) + 13);
  CHECK(cycles_of(nest_of(14, "pow")) > 14 * 2 * trip);
}

TEST_CASE("columns that begin between two vectors cost two loads each") {
  // Rows of B have 18 elements: every other one begins in the middle of a vector. 18 columns: a group of three vectors
  // and one of two, by 4 rows of 2 loads and a putting together a vector.
  const double wide = 64 * std::max({12.0 + 3, 4.0 + 6 + 1, (15.0 + 11 + 3) / 2}) + 2 + 2 * 12 * 2 + 11;
  const double narrow = 64 * std::max({8.0 + 2, 4.0 + 4 + 1, (10.0 + 9 + 3) / 2}) + 2 + 2 * 8 * 2 + 11;
  CHECK(cycles_of(product(4, 18, 64, ComputeForm::register_block)) == wide + narrow);
}

TEST_CASE("the vector form loads and stores what it sums, the scalar form waits for each sum") {
  // A trip over four columns: a multiply-add; B, C and C again, and the branch; 32 trips for each of 64 summands.
  CHECK(cycles_of(product(1, 128, 64, ComputeForm::vector)) == 64 * (32 * 4 + 13));
  // 18 columns: four vectors and two single ones.
  CHECK(cycles_of(product(1, 18, 64, ComputeForm::vector)) == 64 * (4 * 4 + 2 * 4 + 13));
  CHECK(cycles_of(product(1, 128, 64, ComputeForm::scalar)) == 128 * (64 * 7 + 13 + 2));
}

TEST_CASE("the rows of a strided convolution are gathered") {
  LoopNest nest = fixtures::padded_convolution();
  const Target target = target_with_pipelines();
  double scalar = 0;
  double gathered = 0;
  visit_statements(nest.body, [&](const Stmt& statement) {
    const auto* found = std::get_if<Compute>(&statement.node);
    if (found == nullptr) return;
    Compute compute = *found;
    REQUIRE(compute.box.size() == 6);
    const std::vector<std::int64_t> extents = {4, 2, 6, 3, 3, 3};
    compute.form = ComputeForm::scalar;
    compute.lane_axis = compute.block_axis = std::nullopt;
    scalar = InnerLoop(nest, compute, target, {}).cycles(extents);
    choose_form(nest, compute, target);
    CHECK(compute.form == ComputeForm::register_block);
    CHECK(compute.block_axis == VarId(0));
    gathered = InnerLoop(nest, compute, target, {}).cycles(extents);
  });
  CHECK(scalar > 4 * gathered);
  // 6 columns: two vectors, gathered from 4 elements each; 4 rows of weights.
  const double trip = std::max({8.0 + 2 * 3, 4.0 + 2 * 4 + 1, (14.0 + 13 + 3) / 2});
  const double stored = 2 * 8 * 2.0;  // rows of 6 floats: every other one begins within a vector
  CHECK(gathered == 2 * (27 * trip + 9 * 2 + stored + 11));
}

TEST_CASE("a map with strided reads gathers them, where its arithmetic has vectors") {
  // Y[c, x] = max(T[x, c] + B[c] + R[c, x], 0): T is strided along x, R is not, B is one value for a row.
  const auto nest_of = [](std::int64_t columns, const std::string& last) {
    return parsed(fmt::format(R"(nest store {{
  input T f32[{0},8]
  input B f32[8]
  input R f32[8,{0}]
  output Y f32[8,{0}]
  stage store {{
    Y[c < 8, x < {0}] = {1}(((#0 + #1) + #2), 0.0)
    #0 = T[x, c]
    #1 = B[c]
    #2 = R[c, x]
  }}
  memory T = T strides [8, 1]
  memory B = B strides [1]
  memory R = R strides [{0}, 1]
  memory Y = Y strides [{0}, 1] written
  ldm 16384 bytes
  buffer TT f32[{0},8] at 0, {2} bytes = T[0, 0]
  buffer BB f32[8] at 4096, 32 bytes = B[0]
  buffer RR f32[8,{0}] at 4128, {2} bytes = R[0, 0]
  buffer YY f32[8,{0}] at 8224, {2} bytes = Y[0, 0]
  body {{
    0  compute map YY = store(TT, BB, RR) over c=0:8, x=0:{0} as vector lane x
  }}
}}
)",
                              columns, last, columns * 32));
  };
  // Of four columns: 4 elements of T put together by 3 instructions, a vector of R, the result and the branch; two
  // additions, a comparison and a selection; three addresses and the counter.
  const double vector = std::max({7.0, 7.0, (7.0 + 7 + 4) / 2});
  CHECK(cycles_of(nest_of(16, "max")) == 8 * (4 * vector + 1 + 13));
  // 18 columns: rows of R and Y begin within vectors, and two columns are left over.
  const double unaligned = std::max({7.0 + 2, 7.0 + 2, (9.0 + 9 + 4) / 2});
  const double single = std::max({4.0, 4.0, (4.0 + 4 + 4) / 2});
  CHECK(cycles_of(nest_of(18, "max")) == 8 * (4 * unaligned + 2 * single + 1 + 13));
  // A function has no vectors: one column after the other.
  CHECK(cycles_of(nest_of(16, "pow")) > 8 * 16 * single);
  const LoopNest nest = nest_of(16, "max");
  for (const Cost& cost : cost_table(nest, predict_counts(nest), target_with_pipelines())) {
    if (kind_of(cost.formula) == CostKind::compute) CHECK(std::get<ComputeCost>(cost.formula).vectors);
  }
}

TEST_CASE("the cost of a computation is its inner loop's, at most at the target's rate") {
  const LoopNest nest = product(4, 128, 64, ComputeForm::register_block);
  Target target = target_with_pipelines();
  const auto compute_cost = [&] {
    for (const Cost& cost : cost_table(nest, predict_counts(nest), target)) {
      if (kind_of(cost.formula) == CostKind::compute) return std::get<ComputeCost>(cost.formula);
    }
    return ComputeCost();
  };
  CHECK(stowage::cycles_of(compute_cost()) == 8552);
  CHECK(formula_text(compute_cost()) ==
        "32768 points of the busiest core * 2 operations / 7.66 per cycle (register block, 96 % of its peak)");
  target.cores.vector_flops_per_cycle = Rate(2);  // a machine that does a quarter of that
  CHECK(stowage::cycles_of(compute_cost()) == 32768);
}

}  // namespace stowage::inner_loop_test
