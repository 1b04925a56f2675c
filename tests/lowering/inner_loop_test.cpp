// SPDX-License-Identifier: Apache-2.0
// Cycles of inner loops, counted by hand from the instructions that the emitted code needs.
#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/inner_loop.h"

namespace stowage {
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
  if (form != ComputeForm::scalar) compute.lane_axis = 1;
  if (form == ComputeForm::register_block && rows > 1) compute.block_axis = 0;
  nest.compute(compute, {{0, rows}, {0, columns}, {0, summed}});
  return std::move(nest).build();
}

double cycles_of(const LoopNest& nest) {
  const auto& compute = std::get<Compute>(nest.body.back()->node);
  std::vector<std::int64_t> extents;
  for (const Range& range : compute.box) extents.push_back(range.max_extent);
  return InnerLoop(nest, compute, target_with_pipelines()).cycles(extents);
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
  // One row: the multiply-adds of a trip wait for those of the one before.
  CHECK(cycles_of(product(1, 128, 64, ComputeForm::register_block)) == 8 * (64 * 7 + 2 + 2 * 4 + 11));
  // Seven rows are four and three; 20 columns a group of four vectors and one of one.
  const auto of_group = [](double rows, double vectors, double trip) {
    return 64 * trip + 2 + 2 * rows * vectors + 11;
  };
  CHECK(cycles_of(product(7, 20, 64, ComputeForm::register_block)) ==
        of_group(4, 4, 16) + of_group(4, 1, 7) + of_group(3, 4, 12) + of_group(3, 1, 7));
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
    compute.lane_axis = compute.block_axis = -1;
    scalar = InnerLoop(nest, compute, target).cycles(extents);
    choose_form(nest, compute, target);
    CHECK(compute.form == ComputeForm::register_block);
    CHECK(compute.block_axis == 0);
    gathered = InnerLoop(nest, compute, target).cycles(extents);
  });
  CHECK(scalar > 4 * gathered);
  // 6 columns: two vectors, gathered from 4 elements each; 4 rows of weights.
  const double trip = std::max({8.0 + 2 * 3, 4.0 + 2 * 4 + 1, (14.0 + 13 + 3) / 2});
  const double stored = 2 * 8 * 2.0;  // rows of 6 floats: every other one begins within a vector
  CHECK(gathered == 2 * (27 * trip + 9 * 2 + stored + 11));
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

}  // namespace stowage
