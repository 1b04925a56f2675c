// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <random>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/time/counts.h"
#include "lowering/verify/verify.h"
#include "tests/lowering/parsed_nest.h"
#include "tests/lowering/plain_counts.h"

namespace stowage::counts_test {
namespace {

using test::compare;
using test::PlainWalk;

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

TEST_CASE("cores whose coordinates are no digits of their numbers count one by one", "[counts]") {
  // Core 1 is (1, 1) and core 2 is (2, 0), whose box is another one.
  const LoopNest nest = parsed(R"(nest scale {
  input X f32[5,40]
  output Y f32[5,40]
  stage scale {
    Y[i < 5, j < 40] = (#0 * 2.0)
    #0 = X[i, j]
  }
  variables ci, cj, m, n
  core ci < 3 of i stride 1
  core cj < 2 of j stride 1
  memory X = X strides [40, 1]
  memory Y = Y strides [40, 1] written
  ldm 512 bytes
  buffer XX f32[2,32] at 0, 256 bytes = X[2*ci, 32*cj]
  buffer YY f32[2,32] at 256, 256 bytes = Y[2*ci, 32*cj]
  body {
    0  let m = min(2, 5 - 2*ci) in 1..2
    1  let n = min(32, 40 - 32*cj) in 8..32
    2  get X[2*ci:2*ci + m <= 2, 32*cj:32*cj + n <= 32] -> XX
    3  wait 2
    4  compute map YY = scale(XX) over i=2*ci:2*ci + m <= 2, j=32*cj:32*cj + n <= 32
    5  put YY -> Y[2*ci:2*ci + m <= 2, 32*cj:32*cj + n <= 32]
    6  wait 5
  }
}
)");
  REQUIRE(verify(nest, Target{}).value_or("sound") == "sound");
  compare(predict_counts(nest), PlainWalk(nest).run());
}

namespace {

/// Two tiles of two rows, 8 elements and 7, the second loaded while the first is computed with.
std::string loaded_ahead(const std::string& next_tile, const std::string& next_region) {
  return R"(nest scale {
  input X f32[2,15]
  output Y f32[2,15]
  table low = [0, 8]
  table end = [8, 15]
  stage scale {
    Y[i < 2, j < 15] = (#0 * 2.0)
    #0 = X[i, j]
  }
  variables io, jo, jo_next, io_next, length
  memory X = X strides [15, 1]
  memory Y = Y strides [15, 1] written
  ldm 192 bytes
  buffer XX f32[2,8] at 0, 128 bytes = X[0, 8*jo] slots 2
  buffer YY f32[2,8] at 128, 64 bytes = Y[0, 8*jo]
  body {
    0  get X[0:2, 0:8] -> XX from [0, 0]
    1  for io < 1 of i {
    2    for jo < 2 of j {
    3      let jo_next = )" +
         next_tile + R"(
    4      let io_next = io + ((jo + 1) / 2)
    5      wait XX[jo % 2]
    6      if any(1 - io_next) > 0 {
    7        let length = end[jo_next] - low[jo_next] in 1..8
    8        get X[0:2, )" +
         next_region + R"(] -> XX[(jo + 1) % 2] from [0, 8*jo_next]
           }
    9      compute map YY = scale(XX[jo % 2]) over i=0:2, j=8*jo:8*jo + min(8, 15 - 8*jo) <= 8
   10      put YY -> Y[0:2, 8*jo:8*jo + min(8, 15 - 8*jo) <= 8]
   11      wait 10
         }
       }
  }
}
)";
}

void check_sound_and_counted(const std::string& text) {
  INFO(text);
  const LoopNest nest = parsed(text);
  REQUIRE(verify(nest, Target{}).value_or("sound") == "sound");
  compare(predict_counts(nest), PlainWalk(nest).run());
}

}  // namespace

TEST_CASE("gets of the next trip that are written in another way than lowering does are counted as they are",
          "[counts]") {
  const std::string next = "8*jo_next:8*jo_next + min(8, 15 - 8*jo_next) <= ";
  check_sound_and_counted(loaded_ahead("((jo + 1) % 2)", next + "8"));
  // Behind the last trip the next one has a number that no trip has.
  check_sound_and_counted(loaded_ahead("((jo + 1) % 16)", next + "8"));
  check_sound_and_counted(loaded_ahead("((jo + 1) % 2)", "8*jo + 8:8*jo + 8 + min(8, 7 - 8*jo) <= 8"));
  // By other calls than the get of the first trip: rows of at most 15 elements are not the whole buffer's.
  check_sound_and_counted(loaded_ahead("((jo + 1) % 2)", next + "15"));
}

TEST_CASE("a table that only a guard keeps from being asked for what it has not is no fault of ours", "[counts]") {
  check_sound_and_counted(loaded_ahead("((jo + 1) % 16)", "low[jo_next]:low[jo_next] + length <= 8"));
  const LoopNest nest = parsed(R"(nest scale {
  input X f32[8]
  output Y f32[8]
  table trips = [1]
  stage scale {
    Y[i < 8] = (#0 * 2.0)
    #0 = X[i]
  }
  variables c, t
  core c < 2 of i stride 1
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 64 bytes
  buffer XX f32[8] at 0, 32 bytes = X[0]
  buffer YY f32[8] at 32, 32 bytes = Y[0]
  body {
    0  if any(1 - c) > 0 {
    1    for t < trips[c] of i {
    2      get X[0:8] -> XX
    3      wait 2
    4      compute map YY = scale(XX) over i=0:8
    5      put YY -> Y[0:8]
    6      wait 5
         }
       }
  }
}
)");
  verify(nest, Target{});  // which may be too careful here
  const NestCounts counts = predict_counts(nest);
  CHECK(counts.dma.at(StatementId(2)).transfers == 1);
  CHECK(counts.compute.at(StatementId(4)).points == 8);
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
  const StatementId get =
      build.get(tensor, buffer, {{IndexExpr(c) + ko + co, extent}, {x, minimum(3, IndexExpr(57) - x)}});
  for (int level = 0; level < 6; ++level) build.end();
  const LoopNest nest = std::move(build).build();

  const auto start = std::chrono::steady_clock::now();
  const NestCounts counts = predict_counts(nest);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(counts.dma.at(get).transfers == 64LL * 8 * 56 * 56 * 512 * 9);
  CHECK(took.count() < 0.1);  // microseconds in fact; a walk would take minutes
}

}  // namespace
}  // namespace stowage::counts_test
