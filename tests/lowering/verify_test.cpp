// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/ir/renumber.h"
#include "lowering/ir/rewrite.h"
#include "lowering/verify/verify.h"

namespace stowage::verify_test {
namespace {

Target machine() {
  Target target;
  target.name = "machine";
  return target;
}

std::string verdict(const LoopNest& nest) { return verify(nest, machine()).value_or("sound"); }

template <class Node>
LoopNest with(LoopNest nest, std::size_t statement, const std::function<void(Node&)>& edit) {
  nest.body = edited<Node>(nest.body, [&](const Stmt& s, Node& node) {
    if (s.id != StatementId(statement)) return false;
    edit(node);
    return true;
  });
  return nest;
}

LoopNest without(LoopNest nest, std::size_t statement) {
  nest.body = rewritten(
      nest.body, [&](const Stmt& s) { return s.id == StatementId(statement) ? Replacement(Block{}) : Replacement(); });
  return nest;
}

TEST_CASE("the nests written by hand are sound", "[verify]") {
  CHECK(verdict(fixtures::paper_matmul()) == "sound");
  CHECK(verdict(fixtures::padded_convolution()) == "sound");
  CHECK(verdict(fixtures::ragged_chain()) == "sound");
}

// Statements of paper_matmul: 0 x, 1 yo, 2 fill CC, 3 ko, 4 get A, 5 wait, 6 get B, 7 wait, 8 update, 9 put C, 10 wait.

TEST_CASE("scope: a variable outside its loop has no value", "[verify]") {
  LoopNest nest = fixtures::paper_matmul();
  const VarId ko(2);
  nest = with<Dma>(nest, 9, [&](Dma& dma) { dma.region[1].start = IndexExpr(ko) * 64; });
  CHECK(verdict(nest) == "scope: statement 9 'put CC -> C[x:x + 1, 64*ko:64*ko + 128]': ko has no value here");
}

TEST_CASE("scope: a variable is bound once", "[verify]") {
  const LoopNest nest = with<Loop>(fixtures::paper_matmul(), 3, [](Loop& loop) { loop.variable = VarId(1); });
  CHECK(verdict(nest) == "scope: variable yo is bound twice");
}

TEST_CASE("variable-range: no more iterations are declared than a loop has", "[verify]") {
  LoopNest nest = fixtures::paper_matmul();
  nest.variables[1].range.high = 1'000'000'000'000;
  CHECK(verdict(nest) ==
        "variable-range: statement 1 'for yo < 8 in 0..1000000000000 of y {': yo is declared up to 1000000000000, but "
        "has at "
        "most 8 iterations");
}

TEST_CASE("structure: references exist", "[verify]") {
  CHECK(verdict(with<Wait>(fixtures::paper_matmul(), 5, [](Wait& wait) { wait.dma = StatementId(3); })) ==
        "structure: statement 5: statement 3 is no transfer");
  CHECK(verdict(with<Fill>(fixtures::paper_matmul(), 2, [](Fill& fill) { fill.buffer = BufferId(7); })) ==
        "structure: statement 2: fills an unknown buffer");
  CHECK(verdict(with<Dma>(fixtures::paper_matmul(), 4, [](Dma& dma) { dma.buffer = BufferId(2); })) ==
        "structure: statement 4: buffer BB holds another tensor");
  LoopNest nest = fixtures::paper_matmul();
  nest.buffers[BufferId(1)].name = "not an identifier";
  CHECK(verdict(nest) == "structure: buffer name 'not an identifier' is taken or no identifier");
}

TEST_CASE("ldm-capacity: buffers fit beside what is reserved", "[verify]") {
  LoopNest nest = fixtures::paper_matmul();
  Target target = machine();
  target.ldm.bytes = 32768;
  CHECK(verify(nest, target) ==
        "ldm-capacity: the buffers need 33536 bytes of LDM, machine has 26624 beside 6144 reserved");
  nest.ldm_bytes = 33504;
  CHECK(verdict(nest) == "ldm-capacity: buffer BB takes bytes 768..33535 of an LDM arena of 33504");
  nest = fixtures::paper_matmul();
  nest.buffers[BufferId(1)].offset = 516;
  CHECK(verdict(nest) == "ldm-alignment: buffer AA begins at byte 516, no multiple of 32");
}

TEST_CASE("core-grid: no more cores than there are, each with coordinates of its own", "[verify]") {
  LoopNest nest = fixtures::ragged_chain();
  Target target = machine();
  target.cores.count = 32;
  CHECK(verify(nest, target) == "core-grid: the grid has 64 cores, machine has 32");
  nest.core_grid[0].stride = 2;
  CHECK(verdict(nest) == "core-grid: core 1 has the same coordinates as an earlier one");
}

TEST_CASE("transfer-in-tensor: a region one element too far", "[verify]") {
  const LoopNest nest = with<Dma>(fixtures::paper_matmul(), 4, [](Dma& dma) { dma.region[1].start += 1; });
  CHECK(
      verdict(nest) ==
      "transfer-in-tensor: statement 4 'get A[x:x + 1, 64*ko + 1:64*ko + 65] -> AA': touches 961..1024 of dimension 1 "
      "of A, which has 1024 (ko = 15)");
}

TEST_CASE("transfer-in-tensor: what an empty box would touch does not matter", "[verify]") {
  // Core 62 has 8 elements, core 63 none: their regions would begin beyond the tensor without the emptied loop.
  const LoopNest sound = fixtures::ragged_chain();
  CHECK(verdict(sound) == "sound");
  const LoopNest nest =
      with<Let>(sound, 3, [](Let& let) { let.value = minimum(6, IndexExpr(16) - IndexExpr(VarId(2)) * 6); });
  CHECK(verdict(nest) ==
        "transfer-in-tensor: statement 4 'get A[x0:x0 + nx <= 6] -> AA': touches 998..1003 of dimension 0 of A, which "
        "has 1000 (cx = 62, xo = 1)");
}

TEST_CASE("transfer-in-buffer: a tile larger than its buffer", "[verify]") {
  LoopNest nest = without(fixtures::padded_convolution(), 7);
  nest.buffers[BufferId(1)].extents[1] = 4;  // XX has five rows
  CHECK(verdict(nest) ==
        "transfer-in-buffer: statement 8 'get X[0:3, r0:r0 + nr <= 11, 0:11] -> XX': touches 1..4 of dimension 1 of "
        "buffer XX, which has 4 (cy = 0, yo = 0)");
}

TEST_CASE("largest-extent: the declared maximum holds", "[verify]") {
  const LoopNest nest = with<Dma>(fixtures::padded_convolution(), 8, [](Dma& dma) { dma.region[1].max_extent = 4; });
  CHECK(verdict(nest) ==
        "largest-extent: statement 8 'get X[0:3, r0:r0 + nr <= 4, 0:11] -> XX': touches 0..4 of the 4 elements that "
        "dimension 1 is said to have at most (cy = 1, yo = 0)");
}

TEST_CASE("variable-range: the declared range holds", "[verify]") {
  LoopNest nest = fixtures::padded_convolution();
  nest.variables[2].range = {0, 4};  // y0 reaches 5
  CHECK(verdict(nest) ==
        "variable-range: statement 3 'let y0 = 3*cy + 2*yo in 0..4': touches 5..5 of the declared range 0..4 of y0 "
        "(cy = 1, yo = 1)");
}

TEST_CASE("compute-in-buffer: a kernel that reaches beyond the rows loaded", "[verify]") {
  LoopNest nest = fixtures::padded_convolution();
  nest.buffers[BufferId(1)].origin[1] += 1;
  nest = with<Dma>(nest, 8, [](Dma& dma) { dma.region[1] = {IndexExpr(VarId(4)) + 1, IndexExpr(VarId(5)) - 1, 10}; });
  CHECK(
      verdict(nest) ==
      "compute-in-buffer: statement 11 'compute update YY = conv(XX, WW) over k=0:4, y=y0:y0 + ny <= 2, x=0:6, c=0:3, "
      "r=0:3, s=0:3': touches -1..3 of dimension 1 of buffer XX, which has 5");
}

TEST_CASE("touches-what-is-there: less was loaded, or computed, than is used", "[verify]") {
  CHECK(verdict(with<Dma>(fixtures::padded_convolution(), 8,
                          [](Dma& dma) {
                            dma.region[2] = {1, 10, 10};
                          })) ==
        "touches-what-is-there: statement 11 'compute update YY = conv(XX, WW) over k=0:4, y=y0:y0 + ny <= 2, x=0:6, "
        "c=0:3, r=0:3, s=0:3': touches 0..10 of dimension 2 of X, of which buffer XX holds another part");
  CHECK(
      verdict(with<Compute>(fixtures::ragged_chain(), 9,
                            [](Compute& c) {
                              c.box[0].extent = minimum(5, c.box[0].extent);
                              c.box[0].max_extent = 5;
                            })) ==
      "touches-what-is-there: statement 10 'put YY -> Y[x0:x0 + nx <= 6]': touches 0..5 of dimension 0 of Y, of which "
      "buffer YY holds another part (cx = 0, xo = 0)");
}

TEST_CASE("compute-in-stage: nothing is computed beyond the result", "[verify]") {
  const LoopNest nest = with<Compute>(fixtures::paper_matmul(), 8, [](Compute& c) { c.box[2].start += 1; });
  CHECK_THAT(verdict(nest),
             Catch::StartsWith("compute-in-stage: statement 8") &&
                 Catch::EndsWith("touches 961..1024 of axis k of stage matmul, which has 1024 (ko = 15)"));
}

TEST_CASE("transfer-awaited: on every path, exactly once", "[verify]") {
  CHECK(verdict(without(fixtures::paper_matmul(), 7)) ==
        "buffer-in-flight: statement 8 'compute update CC = matmul(AA, BB) over x=x:x + 1, y=128*yo:128*yo + 128, "
        "k=64*ko:64*ko + 64 as vector lane y': buffer BB is read while transfer 6 of BB is under way");
  CHECK(verdict(without(fixtures::paper_matmul(), 10)) ==
        "transfer-awaited: statement 9 'put CC -> C[x:x + 1, 128*yo:128*yo + 128]': the transfer is not awaited before "
        "statement 1 ends or begins again");
  CHECK(verdict(with<Wait>(fixtures::paper_matmul(), 7, [](Wait& wait) { wait.dma = StatementId(4); })) ==
        "transfer-awaited: statement 7 'wait 4': transfer 4 is not under way on this path");
}

TEST_CASE("read-before-there: a reduction needs its start, every time", "[verify]") {
  CHECK_THAT(verdict(without(fixtures::paper_matmul(), 2)),
             Catch::StartsWith("read-before-there: statement 8") &&
                 Catch::EndsWith("buffer CC is accumulated into, but nothing was put there"));
  // Before the loop over yo it is there for the first tile only.
  LoopNest nest = fixtures::paper_matmul();
  nest = without(nest, 2);
  nest.body.insert(nest.body.begin(), std::make_shared<const Stmt>(Stmt{StatementId(99), Fill{BufferId(0), 0.0}, {}}));
  nest.body = renumbered(nest.body);
  CHECK_THAT(verdict(nest), Catch::StartsWith("read-before-there: statement 8") &&
                                Catch::EndsWith("buffer CC is accumulated into, but nothing was put there"));
}

TEST_CASE("read-before-there: an intermediate is computed before it is read", "[verify]") {
  CHECK(verdict(without(fixtures::ragged_chain(), 8)) ==
        "read-before-there: statement 9 'compute map YY = relu(TT) over x=x0:x0 + nx <= 6': buffer TT is read, but "
        "nothing was put there");
}

TEST_CASE("buffers over each other: whoever writes one destroys the other", "[verify]") {
  LoopNest nest = fixtures::ragged_chain();
  nest.buffers[BufferId(2)].offset =
      nest.buffers[BufferId(1)].offset;  // TT in place of BB: add reads BB element by element
  CHECK(verdict(nest) == "sound");
  nest.buffers[BufferId(1)].offset = nest.buffers[BufferId(0)].offset;  // BB over AA
  nest.buffers[BufferId(2)].offset = 64;
  CHECK_THAT(verdict(nest), Catch::StartsWith("buffer-in-flight: statement 5") &&
                                Catch::EndsWith("buffer BB is overwritten while transfer 4 of AA is under way"));
  nest = fixtures::paper_matmul();
  nest.buffers[BufferId(1)].offset = 0;  // AA over CC
  CHECK_THAT(verdict(nest), Catch::StartsWith("ldm-sharing: statement 8"));
}

TEST_CASE("write-once: no two cores and no two trips write the same element", "[verify]") {
  LoopNest nest = fixtures::ragged_chain();
  nest = with<Let>(nest, 2, [](Let& let) { let.value = IndexExpr(VarId(0)) * 15 + IndexExpr(VarId(2)) * 6; });
  CHECK(
      verdict(nest) ==
      "write-once: statement 10 'put YY -> Y[x0:x0 + nx <= 6]': element 15 of dimension 0 of Y is written with cx = 0, "
      "xo = 2 and with cx = 1, xo = 0");
  nest = with<Loop>(fixtures::paper_matmul(), 0, [](Loop& loop) { loop.extent = 2; });
  nest.variables[0].range = {0, 1};
  nest = with<Dma>(nest, 9, [](Dma& dma) { dma.region[0].start = 0; });
  nest = with<Dma>(nest, 4, [](Dma& dma) { dma.region[0].start = 0; });
  nest = with<Compute>(nest, 8, [](Compute& c) { c.box[0].start = 0; });
  nest.buffers[BufferId(0)].origin[0] = 0;
  nest.buffers[BufferId(1)].origin[0] = 0;
  CHECK(
      verdict(nest) ==
      "write-once: statement 9 'put CC -> C[0:1, 128*yo:128*yo + 128]': the same elements of C are written with x = 0 "
      "and with x = 1");
}

TEST_CASE("write-coverage: every element is written", "[verify]") {
  LoopNest nest = with<Loop>(fixtures::paper_matmul(), 1, [](Loop& loop) { loop.extent = 7; });
  nest.variables[1].range.high = 6;
  CHECK(verdict(nest) ==
        "write-coverage: statement 9 'put CC -> C[x:x + 1, 128*yo:128*yo + 128]': element 896 of dimension 1 of C is "
        "never written");
  nest = without(without(fixtures::ragged_chain(), 11), 10);
  CHECK(verdict(nest) == "write-coverage: Y is never written");
}

TEST_CASE("write-coverage: a put of no element may lie anywhere, and writes nothing", "[verify]") {
  const LoopNest nest = with<Dma>(fixtures::paper_matmul(), 9, [](Dma& dma) {
    dma.region[0] = {-100, 1'000'000, 1'000'000};
    dma.region[1] = {0, 0, 0};
  });
  CHECK(verdict(nest) ==
        "write-coverage: statement 9 'put CC -> C[-100:999900, 0:0]': element 0 of dimension 1 of C is never written");
}

}  // namespace
}  // namespace stowage::verify_test
