// SPDX-License-Identifier: Apache-2.0
// Where the blocks of transfers begin in a line, and how many cores read side by side, of nests in text.
#include <catch2/catch.hpp>

#include "core/stage.h"
#include "fixtures.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/multiple_of.h"
#include "lowering/time/block_alignment.h"

namespace stowage::block_alignment_test {
namespace {

Target target_of_lines() {
  Target target;
  target.dma.lines = LineRates{12.8e9, 25e-9, 15e-9, 1024};
  return target;
}

/// By tensor name, in program order.
std::vector<std::pair<std::string, BlockAlignment>> alignments(const LoopNest& nest) {
  std::vector<std::pair<std::string, BlockAlignment>> found;
  visit_with_enclosing(nest, [&](const Stmt& statement, const Enclosing& around) {
    const auto* dma = std::get_if<Dma>(&statement.node);
    if (dma == nullptr) return;
    found.emplace_back(nest.tensors[dma->nest_tensor].name, block_alignment(nest, *dma, around, target_of_lines()));
  });
  return found;
}

}  // namespace

TEST_CASE("blocks of the paper's product begin at lines, and cores that split its columns do not read side by side") {
  // A[1][1024] by 64, B[1024][1024] in rows of 128 columns, C[1][1024] by 128; a core has 1024 columns of its own.
  const auto found = alignments(fixtures::paper_matmul());
  REQUIRE(found.size() == 3);
  for (const auto& [name, alignment] : found) {
    INFO(name);
    CHECK(alignment.start_step == 128);
    CHECK(alignment.first_start == 0);
  }
}

TEST_CASE("blocks begin where their tile, their loops and their core put them") {
  // 64 rows of 72 floats (288 bytes: two lines and a quarter) of B[64][72]; cores c have 8 rows each, in loop i.
  fixtures::NestBuilder nest("matmul", fixtures::matmul_stages(1, 72, 64));
  const VarId c = nest.core("c", "y", 8, 1);
  nest.tensor(0);
  const NestTensorId b = nest.tensor(1);
  nest.tensor(2, true);
  const VarId i = nest.begin_loop("i", 8, "k");
  const IndexExpr row = IndexExpr(c) * 8 + IndexExpr(i);
  const BufferId whole = nest.buffer("whole", 1, {1, 72}, {row, 0});
  nest.wait(nest.get(b, whole, {{row, 1}, {0, 72}}));
  const BufferId part = nest.buffer("part", 1, {2, 8}, {IndexExpr(i) * 2, IndexExpr(c) * 8 + 4});
  nest.wait(nest.get(b, part, {{IndexExpr(i) * 2, 2}, {IndexExpr(c) * 8 + 4, 8}}));
  const VarId once = nest.begin_loop("once", 1, "k");
  const BufferId same = nest.buffer("same", 1, {1, 8}, {once, 0});
  nest.wait(nest.get(b, same, {{once, 1}, {0, 8}}));
  nest.end();
  nest.end();
  const auto found = alignments(std::move(nest).build());
  REQUIRE(found.size() == 3);
  // Rows 288 bytes apart: at 0, 32, 64 or 96 of a line. Cores 2304 bytes apart, more than a page.
  CHECK(found[0].second == BlockAlignment{32, 0, 1});
  // From column 4, cores 8 columns apart: at 16, 48, 80, 112; all 8 in a page.
  CHECK(found[1].second == BlockAlignment{32, 16, 8});
  // A loop of one trip moves nothing; all cores read the same line.
  CHECK(found[2].second == BlockAlignment{128, 0, 8});
}

TEST_CASE("the largest power of two that divides an index") {
  const IndexExpr i(VarId(0));
  const IndexExpr j(VarId(1));
  CHECK(power_of_two_dividing(i * 12, 32) == 4);
  CHECK(power_of_two_dividing(i * 64 + j * 8, 32) == 8);
  CHECK(power_of_two_dividing(i * 64 + 6, 32) == 2);
  CHECK(power_of_two_dividing(IndexExpr(0), 32) == 32);
  CHECK(power_of_two_dividing(i, 32) == 1);
}

}  // namespace stowage::block_alignment_test
