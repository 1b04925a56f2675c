// SPDX-License-Identifier: Apache-2.0
// The table of costs against figures worked out by hand for the nest of swTVM section 5.2, and the sum over it.
#include <algorithm>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/time/counts.h"
#include "lowering/time/rates.h"
#include "lowering/time/time_model.h"

namespace stowage::cost_table_test {
namespace {

/// Round numbers: a block of 512 bytes moves at 512 bytes a cycle, one of 256 bytes at 256.
Target round_target() {
  Target target;
  target.cores.count = 1;
  target.clock_hz = 1e9;
  target.cores.launch_seconds = 3e-6;
  target.dma.startup_cycles = 10;
  target.dma.bandwidth = {{256, 256e9}, {512, 512e9}};
  target.cores.vector_flops_per_cycle = Rate(8);
  target.cores.scalar_flops_per_cycle = Rate(1);
  return target;
}

struct Row {
  CostKind kind;
  std::int64_t cycles;
  std::int64_t bytes;
  friend bool operator==(const Row&, const Row&) = default;
};

std::vector<Row> rows_of(const CostTable& table) {
  std::vector<Row> rows;
  for (const Cost& cost : table) {
    rows.push_back({kind_of(cost.formula), cycles_of(cost.formula), bytes_of(cost.formula)});
  }
  return rows;
}

}  // namespace

TEST_CASE("every statement that costs something has its row in the table, with the cost worked out by hand") {
  const LoopNest nest = fixtures::paper_matmul();
  INFO(to_text(nest));
  const CostTable table = cost_table(nest, predict_counts(nest), round_target());
  // 8 trips of yo, 16 of ko in each. A: 128 transfers of 64 elements; B: 128 of 64 rows of 128 elements; C: 8 of 128.
  const std::int64_t loops = std::int64_t{8} * 16;
  const std::vector<Row> expected = {
      {CostKind::launch, 3000, 0},
      {CostKind::get, loops * (1 + 10), loops * 256},
      {CostKind::get, loops * (64 + 10), loops * 64 * 512},
      {CostKind::compute, loops * 64 * 128 * 2 / 8, 0},  // in a register block
      {CostKind::fill, std::int64_t{8} * 128 / 4, 0},    // in vectors
      {CostKind::put, 8 * (1 + 10), std::int64_t{8} * 512},
  };
  const std::vector<Row> rows = rows_of(table);
  REQUIRE(rows.size() == expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i << ": " << rows[i].cycles << " cycles, " << rows[i].bytes << " bytes");
    CHECK(rows[i] == expected[i]);
  }
  std::vector<StatementId> statements;
  for (const Cost& cost : table) {
    CHECK(cost.statement.has_value() == (kind_of(cost.formula) != CostKind::launch));
    if (cost.statement) statements.push_back(*cost.statement);
  }
  std::sort(statements.begin(), statements.end());
  CHECK(std::adjacent_find(statements.begin(), statements.end()) == statements.end());
}

TEST_CASE("the estimate is the sum over the table, gets and puts told as one term each") {
  const LoopNest nest = fixtures::paper_matmul();
  const NestCounts counts = predict_counts(nest);
  const TimeEstimate time = estimate_time(nest, counts, round_target());
  std::int64_t sum = 0;
  for (const Cost& cost : cost_table(nest, counts, round_target())) sum += cycles_of(cost.formula);
  CHECK(time.cycles == sum);  // nothing is rounded here
  std::string names;
  for (const TimeTerm& term : time.terms) names += name_of(term.cost) + "; ";
  CHECK(names == "launch; dma get; compute matmul; fill; dma put; ");
  const auto kinds = cycles_by_kind(time);
  CHECK(kinds.at(CostKind::get) == 128 * 11 + 128 * 74);
  CHECK(formula_text(time.terms[1].cost) ==
        "4227072 bytes / 508.06 GB/s + 256 transfers of the busiest core * 10 cycles");
}

TEST_CASE("what differs most between two estimates is named, with the direction in which it went") {
  const LoopNest nest = fixtures::paper_matmul();
  const NestCounts counts = predict_counts(nest);
  Target slower = round_target();
  for (auto& point : slower.dma.bandwidth) point.bytes_per_second /= 2;
  const TimeEstimate before = estimate_time(nest, counts, round_target());
  const TimeEstimate after = estimate_time(nest, counts, slower);
  const TermChange change = largest_change(before, after);
  REQUIRE(change.term != nullptr);
  CHECK(name_of(change.term->cost) == "dma get");
  CHECK(change.cycles == 128 + 128 * 64);
  CHECK(largest_change(after, before).cycles == -change.cycles);
  CHECK(largest_change(before, before).term == nullptr);
}

TEST_CASE("a cost that only the earlier of two estimates has is told too") {
  const ComputeCost computation{.stage = "conv", .points_of_busiest = 100, .operations = 1, .operations_per_cycle = 1};
  const TimeEstimate before{{{computation, 100}, {FillCost{70, 70}, 70}}, 170, 0};
  const TimeEstimate after{{{computation, 90}}, 90, 0};
  const std::vector<const TimeTerm*> gone = terms_gone(before, after);
  REQUIRE(gone.size() == 1);
  CHECK(name_of(gone[0]->cost) == "fill");
  CHECK(terms_gone(after, before).empty());
  const TermChange change = largest_change(before, after);
  CHECK(change.term == gone[0]);
  CHECK(change.cycles == -70);
}

TEST_CASE("the best bandwidth up to a block is that of a smaller one where the curve falls") {
  Target target = round_target();
  target.dma.bandwidth = {{128, 40e9}, {256, 20e9}, {512, 30e9}};
  const auto bandwidth = [&](std::int64_t block) { return dma_bandwidth(target, DmaDirection::get, block, {}); };
  CHECK(bandwidth(64) == 20e9);
  CHECK(bandwidth(192) == 30e9);
  CHECK(bandwidth(4096) == 30e9);
  CHECK(best_dma_bandwidth(target, 64) == 20e9);
  CHECK(best_dma_bandwidth(target, 256) == 40e9);
  CHECK(best_dma_bandwidth(target, 4096) == 40e9);
}

namespace {

/// A line of 128 bytes takes 10 ns, a block at least 25, a partial line of a put 15 more.
Target target_of_lines() {
  Target target = round_target();
  target.dma.bandwidth.clear();
  target.dma.lines = LineRates{12.8e9, 25e-9, 15e-9, 1024};
  return target;
}

double nanoseconds_of_block(DmaDirection direction, std::int64_t bytes, const BlockAlignment& alignment) {
  return static_cast<double>(bytes) / dma_bandwidth(target_of_lines(), direction, bytes, alignment) * 1e9;
}

}  // namespace

TEST_CASE(
    "a block takes the lines that it touches, a put of partial lines more, a short block that stands apart its least") {
  const auto get = DmaDirection::get;
  const auto put = DmaDirection::put;
  const auto is = [](double wanted) { return Catch::WithinRel(wanted, 1e-12); };
  CHECK_THAT(nanoseconds_of_block(get, 1024, {128, 0, 1}), is(80));
  CHECK_THAT(nanoseconds_of_block(get, 1024, {128, 64, 1}), is(90));  // begins in the middle of a line: one more
  CHECK_THAT(nanoseconds_of_block(get, 1024, {64, 0, 1}), is(85));    // every other one does
  CHECK_THAT(nanoseconds_of_block(put, 1024, {128, 0, 1}), is(80));
  CHECK_THAT(nanoseconds_of_block(put, 1024, {128, 64, 1}), is(90 + 30));  // the first and the last line in part
  CHECK_THAT(nanoseconds_of_block(put, 64, {128, 0, 8}), is(10 + 15));     // one line, in part
  CHECK_THAT(nanoseconds_of_block(get, 64, {128, 0, 1}), is(25));          // apart from all others
  CHECK_THAT(nanoseconds_of_block(get, 64, {128, 0, 2}), is(12.5));        // another core reads beside it
  CHECK_THAT(nanoseconds_of_block(get, 64, {128, 0, 8}), is(10));          // its line
  CHECK_THAT(nanoseconds_of_block(get, 96, {32, 0, 8}), is(10 * 1.5));     // begins at 0, 32, 64, 96: 1, 1, 2, 2 lines
}

TEST_CASE("no block is faster than the best bandwidth of blocks up to its size") {
  const Target target = target_of_lines();
  for (const auto direction : {DmaDirection::get, DmaDirection::put}) {
    for (std::int64_t bytes = 4; bytes <= 1200; bytes += 4) {
      for (std::int64_t step = 4; step <= 128; step *= 2) {
        for (std::int64_t first = 0; first < step; first += 4) {
          const double reached = dma_bandwidth(target, direction, bytes, {step, first, 64});
          INFO(bytes << " bytes, from " << first << " by " << step);
          REQUIRE(reached <= best_dma_bandwidth(target, bytes) * (1 + 1e-12));
        }
      }
    }
  }
  CHECK(best_dma_bandwidth(target, 64) == 6.4e9);
  CHECK(best_dma_bandwidth(target, 4096) == peak_dma_bandwidth(target));
}

TEST_CASE("what a core issues, and what one core reaches at most, count besides the bandwidth of all") {
  const LoopNest nest = fixtures::paper_matmul();
  const NestCounts counts = predict_counts(nest);
  Target target = round_target();
  const auto gets = [&] { return cycles_by_kind(estimate_time(nest, counts, target)).at(CostKind::get); };
  const std::int64_t before = gets();
  target.dma.issue_cycles = 3;
  CHECK(gets() == before + 3 * 256);  // one call a transfer
  target.dma.issue_cycles = 0;
  // One core moves all: A's blocks of 256 bytes were slower than that, B's of 512 are held up.
  target.dma.core_bytes_per_second = 256e9;
  CHECK(gets() == 128 * (1 + 10) + 128 * (128 + 10));
}

}  // namespace stowage::cost_table_test
