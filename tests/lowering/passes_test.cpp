// SPDX-License-Identifier: Apache-2.0
// The passes of lowering, each on the text of a small nest, and what passes are made of.
#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/ir/renumber.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/build_nest.h"
#include "lowering/nest/passes.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage::passes_test {
namespace {

Target machine(int alignment = 4) {
  Target target;
  target.name = "machine";
  target.dma.alignment = alignment;
  return target;
}

/// The nest's body after a pass, from "variables" on.
std::string after(const std::string& pass, const std::string& text, const Target& target = machine()) {
  const Pass* const found = find_pass(pass);
  REQUIRE(found != nullptr);
  const LoopNest nest = found->run(parsed(text), target);
  CHECK(verify(nest, target).value_or("sound") == "sound");
  const std::string whole = to_text(nest);
  return whole.substr(whole.find("  body {"));
}

std::string replaced(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

/// Three tiles of four elements, of which each wants one more at both sides.
const std::string window = R"(nest window {
  input X f32[12]
  output Y f32[12]
  stage window {
    Y[x < 12] = max over k < 3 of #0
    #0 = X[x + k - 1] else -1
  }
  variables xo
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 64 bytes
  buffer X_ldm f32[6] at 0, 24 bytes = X[4*xo - 1]
  buffer Y_ldm f32[4] at 32, 16 bytes = Y[4*xo]
  body {
    0  for xo < 3 of x {
    1    get X[4*xo - 1:4*xo + 5] -> X_ldm  // X inside xo
    2    wait 1
    3    fill Y_ldm with -inf
    4    compute update Y_ldm = window(X_ldm) over x=4*xo:4*xo + 4, k=0:3
    5    put Y_ldm -> Y[4*xo:4*xo + 4]
    6    wait 5
       }
  }
}
)";

/// Four tiles of sixteen bytes.
const std::string copy = R"(nest copy {
  input X u8[64]
  output Y u8[64]
  stage copy {
    Y[x < 64] = #0
    #0 = X[x]
  }
  variables xo
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 64 bytes
  buffer X_ldm u8[16] at 0, 16 bytes = X[16*xo]
  buffer Y_ldm u8[16] at 32, 16 bytes = Y[16*xo]
  body {
    0  for xo < 4 of x {
    1    get X[16*xo:16*xo + 16] -> X_ldm
    2    wait 1
    3    compute map Y_ldm = copy(X_ldm) over x=16*xo:16*xo + 16
    4    put Y_ldm -> Y[16*xo:16*xo + 16]
    5    wait 4
       }
  }
}
)";

}  // namespace

TEST_CASE("build: the loops of a schedule with the computations at their places, and nothing is moved yet",
          "[passes]") {
  const StageList stages = fixtures::matmul_stages(8, 6, 10);
  Schedule schedule;
  schedule.parallel = {{"x", 8}};
  schedule.buffer = {{"x", 1}, {"y", 6}, {"k", 5}};
  schedule.order = {"ko"};
  schedule.dma = {{"A", "ko"}, {"B", "ko"}};
  const GroupModel model = build_group_model(stages, machine());
  const auto built = build_pass.run({}, {"product", model, schedule, machine()});
  REQUIRE(std::holds_alternative<BuiltNest>(built));
  const std::string whole = to_text(std::get<BuiltNest>(built).nest);
  CHECK(whole.substr(whole.find("  variables ")) == R"(  variables x_core, ko, k_at
  core x_core < 8 of x stride 1
  memory A = A strides [10, 1]
  memory B = B strides [6, 1]
  memory C = C strides [6, 1] written
  ldm 192 bytes
  buffer A_ldm f32[1,5] at 0, 20 bytes = A[0, 0]
  buffer B_ldm f32[5,6] at 32, 120 bytes = B[0, 0]
  buffer C_ldm f32[1,6] at 160, 24 bytes = C[x_core, 0]
  body {
    0  fill C_ldm with 0  // initialisation of C
    1  for ko < 2 of k {
    2    let k_at = 5*ko
    3    compute update C_ldm = matmul(A_ldm, B_ldm) over x=x_core:x_core + 1, y=0:6, k=k_at:k_at + 5
       }
  }
}
)");
  // A tile that no core has room for has no nest.
  Target small = machine();
  small.ldm.bytes = small.ldm.reserved + 160;
  CHECK(std::holds_alternative<Decision>(build_pass.run({}, {"product", model, schedule, small})));
}

TEST_CASE("place-transfers: boxes are loaded and stored where the schedule says, before the computations", "[passes]") {
  const StageList stages = fixtures::matmul_stages(8, 6, 10);
  Schedule schedule;
  schedule.parallel = {{"x", 2}};
  schedule.buffer = {{"x", 3}, {"y", 3}, {"k", 10}};
  schedule.order = {"xo", "yo"};
  schedule.dma = {{"A", "xo"}, {"B", "yo"}, {"C", "yo"}};
  const GroupModel model = build_group_model(stages, machine());
  auto built = build_nest("product", model, schedule, machine());
  REQUIRE(std::holds_alternative<BuiltNest>(built));
  const auto from_buffers = [](const LoopNest& nest) {
    const std::string whole = to_text(nest);
    return whole.substr(whole.find("  buffer "));
  };
  CHECK(from_buffers(std::get<BuiltNest>(built).nest) == R"(  buffer A_ldm f32[3,10] at 0, 120 bytes = A[0, 0]
  buffer B_ldm f32[10,3] at 128, 120 bytes = B[0, 0]
  buffer C_ldm f32[3,3] at 256, 36 bytes = C[x_at, y_at]
  body {
    0  for xo < 2 of x {
    1    let x_at = 4*x_core + 3*xo
    2    let x_n = min(3, 4 - 3*xo)
    3    for yo < 2 of y {
    4      let y_at = 3*yo
    5      fill C_ldm with 0  // initialisation of C
    6      compute update C_ldm = matmul(A_ldm, B_ldm) over x=x_at:x_at + x_n <= 3, y=y_at:y_at + 3, k=0:10
         }
       }
  }
}
)");
  CHECK(from_buffers(place_transfers(std::get<BuiltNest>(built), model)) ==
        R"(  buffer A_ldm f32[3,10] at 0, 120 bytes = A[x_at, 0]
  buffer B_ldm f32[10,3] at 128, 120 bytes = B[0, y_at]
  buffer C_ldm f32[3,3] at 256, 36 bytes = C[x_at, y_at]
  body {
    0  for xo < 2 of x {
    1    let x_at = 4*x_core + 3*xo
    2    let x_n = min(3, 4 - 3*xo)
    3    get A[x_at:x_at + x_n <= 3, 0:10] -> A_ldm  // A inside xo
    4    wait 3
    5    for yo < 2 of y {
    6      let y_at = 3*yo
    7      get B[0:10, y_at:y_at + 3] -> B_ldm  // B inside yo
    8      wait 7
    9      fill C_ldm with 0  // initialisation of C
   10      compute update C_ldm = matmul(A_ldm, B_ldm) over x=x_at:x_at + x_n <= 3, y=y_at:y_at + 3, k=0:10
   11      put C_ldm -> C[x_at:x_at + x_n <= 3, y_at:y_at + 3]  // C inside yo
   12      wait 11
         }
       }
  }
}
)");
}

TEST_CASE("clip-and-pad: a get ends with its tensor, and padding is filled where a tile reaches outside", "[passes]") {
  CHECK(after("clip-and-pad", window) == R"(  body {
    0  for xo < 3 of x {
    1    if any(1 - 4*xo, 4*xo - 7) > 0 {
    2      fill X_ldm around [max(0, 1 - 4*xo):min(6, 13 - 4*xo) <= 6] with -1  // padding of X
         }
    3    let X_0_at = max(4*xo - 1, 0)
    4    let X_0_n = min(4*xo + 4, 11) + 1 - max(4*xo - 1, 0) in -2..6
    5    get X[X_0_at:X_0_at + X_0_n <= 6] -> X_ldm  // X inside xo
    6    wait 5
    7    fill Y_ldm with -inf
    8    compute update Y_ldm = window(X_ldm) over x=4*xo:4*xo + 4, k=0:3
    9    put Y_ldm -> Y[4*xo:4*xo + 4]
   10    wait 9
       }
  }
}
)");
}

TEST_CASE("clip-and-pad: in a loop padding stands behind the names of the tile and before those of the get",
          "[passes]") {
  std::string named = replaced(window, "variables xo", "variables xo, x_at");
  named = replaced(named, "    1    get X[4*xo - 1:4*xo + 5]",
                   "    1    let x_at = 4*xo\n    2    get X[x_at - 1:x_at + 5]");
  named = replaced(named, "= X[4*xo - 1]", "= X[x_at - 1]");
  named = replaced(named, "    2    wait 1\n", "    3    wait 2\n    4    barrier\n");
  named = replaced(named, "    3    fill", "    5    fill");
  named = replaced(named, "    4    compute", "    6    compute");
  named = replaced(named, "    5    put", "    7    put");
  named = replaced(named, "    6    wait 5", "    8    wait 7");
  const std::string body = after("clip-and-pad", named);
  CHECK(body.substr(0, body.find("    7    wait")) == R"(  body {
    0  for xo < 3 of x {
    1    let x_at = 4*xo
    2    if any(1 - x_at, x_at - 7) > 0 {
    3      fill X_ldm around [max(0, 1 - x_at):min(6, 13 - x_at) <= 6] with -1  // padding of X
         }
    4    let X_0_at = max(x_at - 1, 0)
    5    let X_0_n = min(x_at + 4, 11) + 1 - max(x_at - 1, 0) in -2..6
    6    get X[X_0_at:X_0_at + X_0_n <= 6] -> X_ldm  // X inside xo
)");
}

TEST_CASE("clip-and-pad: what is the same for all tiles is filled once, before the loop", "[passes]") {
  // The window lies over the whole second dimension, of which every tile holds all.
  const std::string rows = R"(nest rows {
  input X f32[4,6]
  output Y f32[4,6]
  stage rows {
    Y[y < 4, x < 6] = max over k < 3 of #0
    #0 = X[y, x + k - 1] else 0
  }
  variables y
  memory X = X strides [6, 1]
  memory Y = Y strides [6, 1] written
  ldm 64 bytes
  buffer X_ldm f32[1,8] at 0, 32 bytes = X[y, -1]
  buffer Y_ldm f32[1,6] at 32, 24 bytes = Y[y, 0]
  body {
    0  for y < 4 of y {
    1    get X[y:y + 1, -1:7] -> X_ldm
    2    wait 1
    3    fill Y_ldm with -inf
    4    compute update Y_ldm = rows(X_ldm) over y=y:y + 1, x=0:6, k=0:3
    5    put Y_ldm -> Y[y:y + 1, 0:6]
    6    wait 5
       }
  }
}
)";
  CHECK(after("clip-and-pad", rows) == R"(  body {
    0  fill X_ldm around [0:1, 1:7] with 0  // padding of X
    1  for y < 4 of y {
    2    get X[y:y + 1, 0:6] -> X_ldm
    3    wait 2
    4    fill Y_ldm with -inf
    5    compute update Y_ldm = rows(X_ldm) over y=y:y + 1, x=0:6, k=0:3
    6    put Y_ldm -> Y[y:y + 1, 0:6]
    7    wait 6
       }
  }
}
)");
}

TEST_CASE("clip-and-pad: what does not reach outside stays, under names", "[passes]") {
  const std::string inside = replaced(replaced(window, "x + k - 1] else -1", "x]"),
                                      "f32[6] at 0, 24 bytes = X[4*xo - 1]", "f32[4] at 0, 16 bytes = X[4*xo]");
  CHECK(after("clip-and-pad", replaced(inside, "get X[4*xo - 1:4*xo + 5]", "get X[4*xo:4*xo + 4]")) == R"(  body {
    0  for xo < 3 of x {
    1    let X_0_at = 4*xo
    2    get X[X_0_at:X_0_at + 4] -> X_ldm  // X inside xo
    3    wait 2
    4    fill Y_ldm with -inf
    5    compute update Y_ldm = window(X_ldm) over x=4*xo:4*xo + 4, k=0:3
    6    put Y_ldm -> Y[4*xo:4*xo + 4]
    7    wait 6
       }
  }
}
)");
  // A get that moves a part of its buffer's box was clipped already.
  const std::string once = to_text(clip_and_pad(parsed(window), machine()));
  CHECK(to_text(clip_and_pad(parsed(once), machine())) == once);
}

TEST_CASE("clip-and-pad: a get that begins where its box does is clipped once, too", "[passes]") {
  // Each tile wants two elements behind it, the last one behind the tensor: the start stays where the box begins.
  std::string behind = replaced(window, "#0 = X[x + k - 1] else -1", "#0 = X[x + k] else -1");
  behind = replaced(behind, "24 bytes = X[4*xo - 1]", "24 bytes = X[4*xo]");
  behind = replaced(behind, "get X[4*xo - 1:4*xo + 5]", "get X[4*xo:4*xo + 6]");
  const std::string once = to_text(clip_and_pad(parsed(behind), machine()));
  INFO(once);
  CHECK(once.find("fill X_ldm around") != std::string::npos);
  CHECK(to_text(clip_and_pad(parsed(once), machine())) == once);
}

TEST_CASE("double-buffer: a tile is loaded a trip ahead, and stored while the next trips compute", "[passes]") {
  std::string slots = replaced(copy, "u8[16] at 0, 16 bytes = X[16*xo]", "u8[16] at 0, 32 bytes = X[16*xo] slots 2");
  slots = replaced(slots, "u8[16] at 32, 16 bytes = Y[16*xo]", "u8[16] at 32, 32 bytes = Y[16*xo] slots 2");
  Target target = machine();
  target.ldm.alignment = 16;
  CHECK(after("double-buffer", slots, target) == R"(  body {
    0  get X[0:16] -> X_ldm from [0]  // of the first trip
    1  for xo < 4 of x {
    2    wait X_ldm[xo % 2]
    3    if any(3 - xo) > 0 {
    4      get X[16*xo + 16:16*xo + 32] -> X_ldm[(xo + 1) % 2] from [16*xo + 16]  // of the next trip
         }
    5    if any(xo - 1) > 0 {
    6      wait Y_ldm[xo % 2]
         }
    7    compute map Y_ldm[xo % 2] = copy(X_ldm[xo % 2]) over x=16*xo:16*xo + 16
    8    put Y_ldm[xo % 2] -> Y[16*xo:16*xo + 16]
       }
    9  wait Y_ldm
   10  wait Y_ldm[1]
  }
}
)");
  CHECK(after("double-buffer", copy) == copy.substr(copy.find("  body {")));  // one slot: nothing to load ahead into
}

TEST_CASE("choose-forms: a long last axis is a vector loop, a product of two reads a register block", "[passes]") {
  const std::string matmul = to_text(fixtures::paper_matmul());
  const std::string plain = replaced(matmul, " as vector lane y", "");
  CHECK(after("choose-forms", plain) ==
        replaced(matmul, "as vector lane y", "as register_block lane y").substr(matmul.find("  body {")));
  // No lanes, no forms.
  Target scalar = machine();
  scalar.cores.vector_lanes = 1;
  CHECK(after("choose-forms", matmul, scalar) == plain.substr(plain.find("  body {")));
}

TEST_CASE("dma-units: an aligned transfer of narrow elements moves whole units, another one bytes", "[passes]") {
  const std::string body = copy.substr(copy.find("  body {"));
  CHECK(after("dma-units", copy) == replaced(replaced(body, "-> X_ldm", "-> X_ldm by 4 bytes"), "Y[16*xo:16*xo + 16]",
                                             "Y[16*xo:16*xo + 16] by 4 bytes"));
  CHECK(after("dma-units", copy, machine(1)) == body);
  CHECK(after("dma-units", copy, machine(32)) == body);  // tiles begin between two units
  // What was there before tells nothing.
  const std::string units = to_text(set_dma_units(parsed(copy), machine()));
  CHECK(to_text(set_dma_units(parsed(units), machine(1))) == copy);
  CHECK(to_text(set_dma_units(parsed(units), machine(32))) == copy);
}

TEST_CASE("units that the target does not move, or that a transfer does not keep to, are unsound", "[passes]") {
  const std::string of_bytes = to_text(set_dma_units(parsed(copy), machine()));
  const auto verdict = [](const std::string& text, const Target& target) {
    return verify(parsed(text), target).value_or("sound");
  };
  CHECK(verdict(of_bytes, machine()) == "sound");
  CHECK(verdict(replaced(of_bytes, "X_ldm by 4 bytes", "X_ldm by 4096 bytes"), machine()).starts_with("dma-unit: "));
  CHECK(verdict(of_bytes, machine(8)).starts_with("dma-unit: "));
  CHECK(verdict(of_bytes, machine(1)).starts_with("dma-unit: "));
  const std::string unaligned = replaced(copy, "Y[16*xo:16*xo + 16]\n", "Y[16*xo:16*xo + 15] by 4 bytes\n");
  CHECK(verdict(unaligned, machine()).starts_with("dma-unit: "));
}

TEST_CASE("the table names passes that there are, in the order of their numbers", "[passes]") {
  int number = 0;
  for (const SchedulePass& pass : schedule_passes) {
    CHECK(find_pass(pass.name) == nullptr);
    CHECK(pass_number(pass.name) == ++number);
    CHECK(pass.summary.ends_with("."));
  }
  for (const Pass& pass : nest_passes) {
    CHECK(find_pass(pass.name) == &pass);
    CHECK(pass_number(pass.name) == ++number);
    CHECK(pass.summary.ends_with("."));
  }
  CHECK(find_pass("clip") == nullptr);
  CHECK(pass_number("clip") == 0);
}

TEST_CASE("rewriting replaces by none, one or several, the inside first, and shares what stays", "[passes]") {
  const LoopNest nest = fixtures::paper_matmul();
  const auto same = rewritten(nest.body, [](const Stmt&) { return Replacement(); });
  CHECK(same == nest.body);
  // Waits go, puts come twice; the loop over ko, in which the gets are, is another one.
  std::vector<std::size_t> met;
  const Block changed = rewritten(nest.body, [&](const Stmt& s) -> Replacement {
    met.push_back(s.id.index());
    if (std::holds_alternative<Wait>(s.node)) return Block{};
    const auto* dma = std::get_if<Dma>(&s.node);
    if (dma == nullptr || dma->direction != DmaDirection::put) return std::nullopt;
    return Block{with_node(s, *dma), with_node(s, *dma)};
  });
  CHECK(met == std::vector<std::size_t>{2, 4, 5, 6, 7, 8, 3, 9, 10, 1, 0});
  std::vector<std::size_t> left;
  visit_statements(changed, [&](const Stmt& s) { left.push_back(s.id.index()); });
  CHECK(left == std::vector<std::size_t>{0, 1, 2, 3, 4, 6, 8, 9, 9});
  CHECK(find_statement(nest, StatementId(2)) == (*body_of(*body_of(*changed[0])->at(0)))[0].get());
}

TEST_CASE("numbers of statements follow program order, and waits follow their transfers", "[passes]") {
  LoopNest nest = fixtures::paper_matmul();
  const std::string before = to_text(nest);
  nest.body.insert(nest.body.begin(), std::make_shared<const Stmt>(Stmt{StatementId(99), Barrier{}, {}}));
  nest.body = renumbered(nest.body);
  CHECK(nest.body[0]->id == StatementId(0));
  CHECK(std::get<Wait>(find_statement(nest, StatementId(6))->node).dma == StatementId(5));
  nest.body.erase(nest.body.begin());
  nest.body = renumbered(nest.body);
  CHECK(to_text(nest) == before);
  CHECK(renumbered(nest.body) == nest.body);
}

TEST_CASE("a text keeps the hashes of constants whose values it does not hold", "[passes]") {
  const std::string text = replaced(window, "input X f32[12]", "constant X f32[12] source 3 hash \"12945c88dee26bb1\"");
  Diagnostics diagnostics;
  UnknownValues unknown;
  const auto nest = parse_loop_nest(text, diagnostics, {}, "nest", &unknown);
  REQUIRE(nest);
  CHECK(unknown == UnknownValues{{StageTensorId(0), "12945c88dee26bb1"}});
  CHECK(to_text(*nest, unknown) == text);
  CHECK(to_text(*nest) != text);
}

}  // namespace stowage::passes_test
