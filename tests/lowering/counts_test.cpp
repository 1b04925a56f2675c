// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <random>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/time/counts.h"
#include "tests/lowering/nest_walk.h"

namespace stowage {
namespace {

using test::NestWalk;

/// The obvious way: every core walks every trip of every loop.
class PlainWalk {
 public:
  explicit PlainWalk(const LoopNest& nest) : nest_(nest) {}

  NestCounts run() {
    visit_statements(nest_.body, [&](const Stmt& s) {
      if (std::holds_alternative<Dma>(s.node)) counts_.dma[s.id], dma_of_core_[s.id];
      if (std::holds_alternative<Compute>(s.node)) counts_.compute[s.id];
      if (std::holds_alternative<Fill>(s.node)) counts_.fill[s.id];
    });
    std::int64_t max_bytes = -1;
    for (int core = 0; core < nest_.cores_used(); ++core) {
      for (auto& [id, totals] : dma_of_core_) totals = {};
      points_of_core_.clear();
      elements_of_core_.clear();
      NestWalk walk(nest_, core);
      walk.run(nest_.body, [&](const Stmt& s) { visit(walk, s); });
      std::int64_t bytes = 0;
      for (const auto& [id, totals] : dma_of_core_) bytes += totals.bytes;
      if (bytes > max_bytes) {
        max_bytes = bytes;
        counts_.dma_of_busiest_core = dma_of_core_;
      }
      for (const auto& [id, points] : points_of_core_) {
        counts_.compute[id].points_of_busiest = std::max(counts_.compute[id].points_of_busiest, points);
      }
      for (const auto& [id, elements] : elements_of_core_) {
        counts_.fill[id].elements_of_busiest = std::max(counts_.fill[id].elements_of_busiest, elements);
      }
    }
    return counts_;
  }

 private:
  void visit(const NestWalk& walk, const Stmt& s) {
    if (const auto* dma = std::get_if<Dma>(&s.node)) {
      std::vector<std::int64_t> extents;
      for (const Range& range : dma->region) extents.push_back(walk.value(range.extent));
      const DmaCount count = count_operations(shape_of(nest_, *dma), extents);
      if (count.operations == 0) return;
      const int size = byte_size(nest_.buffers[dma->buffer].type);
      for (DmaTotals* totals : {&counts_.dma[s.id], &dma_of_core_[s.id]}) {
        ++totals->transfers;
        totals->operations += count.operations;
        totals->bytes += count.elements * size;
        totals->operations_by_block[count.block_elements * size] += count.operations;
        totals->bytes_by_block[count.block_elements * size] += count.elements * size;
      }
    } else if (const auto* compute = std::get_if<Compute>(&s.node)) {
      std::int64_t points = 1;
      for (const Range& range : compute->box) points *= std::max<std::int64_t>(0, walk.value(range.extent));
      counts_.compute[s.id].points += points;
      points_of_core_[s.id] += points;
    } else if (const auto* fill = std::get_if<Fill>(&s.node)) {
      std::int64_t kept = fill->around ? 1 : 0;
      if (fill->around) {
        for (const Range& range : *fill->around) kept *= std::max<std::int64_t>(0, walk.value(range.extent));
      }
      const auto& extents = nest_.buffers[fill->buffer].extents;
      const std::int64_t elements = element_count(extents) - kept;
      counts_.fill[s.id].executions += elements > 0 ? 1 : 0;
      counts_.fill[s.id].elements += elements;
      elements_of_core_[s.id] += elements;
    }
  }

  const LoopNest& nest_;
  NestCounts counts_;
  std::map<int, DmaTotals> dma_of_core_;
  std::map<int, std::int64_t> points_of_core_;
  std::map<int, std::int64_t> elements_of_core_;
};

void compare(const NestCounts& closed, const NestCounts& plain) {
  REQUIRE(closed.dma.size() == plain.dma.size());
  for (const auto& [id, totals] : plain.dma) {
    CAPTURE(id, totals.transfers, totals.operations, totals.bytes);
    const DmaTotals& predicted = closed.dma.at(id);
    CAPTURE(predicted.transfers, predicted.operations, predicted.bytes);
    CHECK(predicted == totals);
    CHECK(closed.dma_of_busiest_core.at(id) == plain.dma_of_busiest_core.at(id));
  }
  REQUIRE(closed.compute.size() == plain.compute.size());
  for (const auto& [id, totals] : plain.compute) {
    CAPTURE(id);
    CHECK(closed.compute.at(id).points == totals.points);
    CHECK(closed.compute.at(id).points_of_busiest == totals.points_of_busiest);
  }
  REQUIRE(closed.fill.size() == plain.fill.size());
  for (const auto& [id, totals] : plain.fill) {
    CAPTURE(id);
    CHECK(closed.fill.at(id).executions == totals.executions);
    CHECK(closed.fill.at(id).elements == totals.elements);
    CHECK(closed.fill.at(id).elements_of_busiest == totals.elements_of_busiest);
  }
}

TEST_CASE("matmul of the paper: 128 transfers of A and B, 8 of C", "[counts]") {
  const LoopNest nest = fixtures::paper_matmul();
  const NestCounts counts = predict_counts(nest);
  std::vector<DmaTotals> totals;
  for (const auto& [id, t] : counts.dma) totals.push_back(t);
  REQUIRE(totals.size() == 3);
  CHECK(totals[0] == DmaTotals{128, 128, 128 * 64 * 4, {{256, 128}}, {{256, 128 * 256}}});
  CHECK(totals[1] == DmaTotals{128, 128, 128 * 64 * 128 * 4, {{512, 128}}, {{512, 128 * 64 * 512}}});
  CHECK(totals[2] == DmaTotals{8, 8, 4096, {{512, 8}}, {{512, 4096}}});
  CHECK(counts.compute.begin()->second.points == 1024 * 1024);
  CHECK(counts.compute.begin()->second.points_of_busiest == 1024 * 1024);
}

TEST_CASE("fixtures count as a plain walk does", "[counts]") {
  for (const LoopNest& nest : {fixtures::paper_matmul(), fixtures::padded_convolution(), fixtures::ragged_chain()}) {
    CAPTURE(nest.name);
    compare(predict_counts(nest), PlainWalk(nest).run());
  }
}

TEST_CASE("the core without elements moves nothing", "[counts]") {
  const NestCounts counts = predict_counts(fixtures::ragged_chain());
  for (const auto& [id, totals] : counts.dma) {
    CHECK(totals.transfers == 62 * 3 + 2);
    CHECK(totals.bytes == 4000);
    CHECK(counts.dma_of_busiest_core.at(id).bytes == 64);
  }
}

TEST_CASE("closed form equals a plain walk on random nests", "[counts]") {
  const unsigned seed = 7;
  for (unsigned trial = 0; trial < 400; ++trial) {
    INFO("seed " << seed << ", trial " << trial);
    std::mt19937 random(seed * 100000 + trial);
    const LoopNest nest = fixtures::random_nest(random);
    compare(predict_counts(nest), PlainWalk(nest).run());
  }
}

TEST_CASE("a convolution with millions of executed statements counts at once", "[counts]") {
  // 64 cores, tiles of one output element of a 512 x 56 x 56 x 512 x 3 x 3 reduction: 1.1e10 executions of a get.
  fixtures::NestBuilder build("deep", fixtures::matmul_stages(512, 56, 512 * 9));
  const VarId c = build.core("c", "x", 64, 1);
  build.tensor(0);
  const NestTensorId tensor = build.tensor(1);
  const VarId ko = build.begin_loop("ko", 8, "x");
  const VarId y = build.begin_loop("y", 56, "y");
  const VarId x = build.begin_loop("x", 56, "y");
  const VarId co = build.begin_loop("co", 512, "k");
  const VarId r = build.begin_loop("r", 3, "k");
  build.begin_loop("s", 3, "k");
  const IndexExpr extent = minimum(3, IndexExpr(58) - y - r);
  const BufferId buffer = build.buffer("buffer", 1, {3, 3}, {co, x});
  const int get = build.get(tensor, buffer, {{IndexExpr(c) + ko + co, extent}, {x, minimum(3, IndexExpr(57) - x)}});
  for (int level = 0; level < 6; ++level) build.end();
  const LoopNest nest = std::move(build).build();

  const auto start = std::chrono::steady_clock::now();
  const NestCounts counts = predict_counts(nest);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(counts.dma.at(get).transfers == 64LL * 8 * 56 * 56 * 512 * 9);
  CHECK(took.count() < 0.1);  // microseconds in fact; a walk would take minutes
}

}  // namespace
}  // namespace stowage
