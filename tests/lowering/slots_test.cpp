// SPDX-License-Identifier: Apache-2.0
// Buffers of several slots, and transfers that are started in one trip of a loop and awaited in another one.
#include <random>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/interpret/interpret.h"
#include "lowering/ir/renumber.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"
#include "slot_products.h"

namespace stowage::slots_test {
namespace {

using namespace fixtures;

TEST_CASE("double-buffered products are sound and compute the product", "[slots]") {
  for (const std::string& text : {double_buffered, peeled, across, single_slot}) {
    INFO(text);
    const LoopNest nest = parsed(text);
    CHECK(verdict(nest) == "sound");
    CHECK(wrong_elements(nest) == 0);
    const std::string again = to_text(nest);
    CHECK(to_text(parsed(again)) == again);
  }
}

TEST_CASE("slots print as they are read", "[slots]") {
  const std::string text = to_text(parsed(double_buffered));
  CHECK_THAT(text, Catch::Contains("-> BB[(ko + 1) % 2] from [16*ko + 16, 16*yo]\n"));
  CHECK_THAT(text, Catch::Contains("wait BB[ko % 2]\n"));
  CHECK_THAT(text, Catch::Contains("-> BB from [0, 16*yo]\n"));
  const auto slot = [&](const std::string& written) {
    const std::string all = to_text(parsed(replaced(double_buffered, "wait BB[ko % 2]", "wait BB[" + written + "]")));
    const std::size_t at = all.find("wait BB");
    return all.substr(at, all.find('\n', at) - at);
  };
  CHECK(slot("0") == "wait BB");
  CHECK(slot("ko") == "wait BB[ko]");
  CHECK(slot("((ko + 3) % 2)") == "wait BB[(ko + 1) % 2]");
  CHECK(slot("(2*ko) % 3") == "wait BB[(2*ko) % 3]");
  CHECK(slot("(ko / 2) % 2") == "wait BB[(ko / 2) % 2]");
  CHECK(slot("1 - (ko % 2)") == "wait BB[1 - (ko % 2)]");
  Diagnostics diagnostics;
  for (const char* wrong : {"ko % 0", "ko + 1 % 2", "", "q", "ko % -2"}) {
    const std::string bad = replaced(double_buffered, "wait BB[ko % 2]", "wait BB[" + std::string(wrong) + "]");
    CHECK_FALSE(parse_loop_nest(bad, diagnostics));
  }
}

TEST_CASE("random slots and origins print, parse and print the same", "[slots]") {
  const unsigned seed = 31;
  std::mt19937 random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    LoopNest nest = fixtures::random_nest(random);
    for (Buffer& buffer : nest.buffers) buffer.slots = static_cast<int>(random() % 3) + 1;
    std::vector<VarId> known;
    for (const CoreAxis& axis : nest.core_grid) known.push_back(axis.variable);
    const auto expression = [&] {
      IndexExpr e = static_cast<std::int64_t>(random() % 5) - 2;
      for (const VarId v : known) e += IndexExpr(v) * (static_cast<std::int64_t>(random() % 5) - 2);
      switch (random() % 4) {
        case 0: return remainder(e, 2 + static_cast<std::int64_t>(random() % 3));
        case 1: return floor_div(e, 2);
        case 2: return maximum(e, remainder(e + 1, 3));
        default: return e;
      }
    };
    const auto redraw = [&](BufferUse& use, bool with_origin) {
      use.slot = expression();
      if (with_origin && random() % 2 == 0) use.origin = {expression(), expression()};
    };
    nest.body = rewritten(nest.body, [&](const Stmt& s) -> Replacement {
      Stmt::Node node = s.node;
      if (auto* dma = std::get_if<Dma>(&node)) redraw(dma->buffer, true);
      if (auto* fill = std::get_if<Fill>(&node)) redraw(fill->buffer, false);
      if (auto* wait = std::get_if<Wait>(&node); wait != nullptr && random() % 2 == 0) {
        *wait = {std::nullopt, BufferUse(BufferId(0))};
        redraw(*wait->slot, false);
      }
      if (auto* compute = std::get_if<Compute>(&node)) {
        redraw(compute->output_buffer, true);
        for (auto& read : compute->read_buffers) {
          if (read) redraw(*read, true);
        }
      }
      return Block{with_node(s, std::move(node))};
    });
    INFO("seed " << seed << ", trial " << trial);
    const std::string text = to_text(nest);
    const LoopNest again = parsed(text);
    REQUIRE(to_text(again) == text);
    CHECK_NOTHROW(verify(again, Target{}));
  }
}

TEST_CASE("a nest keeps its slots when its variables are numbered anew", "[slots]") {
  const LoopNest nest = parsed(double_buffered);
  const LoopNest swapped = renumbered(nest, {1, 0});
  CHECK(to_text(swapped) == replaced(to_text(nest), "variables yo, ko", "variables ko, yo"));
  CHECK(first_use_of_slots(nest)->id == StatementId(4));
  CHECK(first_use_of_slots(fixtures::paper_matmul()) == nullptr);
}

struct Fault {
  std::string part, by, verdict;
  bool in_numbers = true;  ///< the interpreter's result shows it too
};

/// Each fault is refused, by a rule that names what is wrong.
void check_faults(const std::string& sound, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    INFO(fault.part << " -> " << fault.by);
    const LoopNest nest = parsed(replaced(sound, fault.part, fault.by));
    CHECK_THAT(verdict(nest), Catch::Contains(fault.verdict));
    CHECK((wrong_elements(nest) > 0) == fault.in_numbers);
  }
}

const std::string prologue = "    4    get B[0:16, 16*yo:16*yo + 16] -> BB from [0, 16*yo]\n";
const std::string wait_for_tile = "    8      wait BB[ko % 2]\n";
const std::string compute_tile =
    "    9      compute update CC = matmul(AA, BB[ko % 2]) over x=0:1, y=16*yo:16*yo + 16, k=16*ko:16*ko + 16\n";
const std::string put_and_wait = "   10    put CC -> C[0:1, 16*yo:16*yo + 16]\n   11    wait 10\n";

TEST_CASE("faults of a double-buffered product are refused by name", "[slots]") {
  check_faults(
      double_buffered,
      {{prologue, "",
        "transfer-awaited: statement 8 'wait BB[ko % 2]': no transfer of slot 0 of buffer BB is under "
        "way on this path (ko = 0)"},
       {"-> BB from [0, 16*yo]", "-> BB[1] from [0, 16*yo]",
        "buffer-in-flight: statement 7 'get B[16*ko + 16:16*ko + 32, 16*yo:16*yo + 16] -> BB[(ko + 1) % 2] from "
        "[16*ko + 16, 16*yo]': slot 1 of buffer BB is overwritten while transfer 4 of slot 1 of buffer BB is under "
        "way (ko = 0)"},
       {"BB[(ko + 1) % 2] from", "BB[ko % 2] from",
        "slot 0 of buffer BB is overwritten while transfer 4 of slot 0 of buffer BB is under way (ko = 0)"},
       {"BB[(ko + 1) % 2] from", "BB[((ko + 1) / 2) % 2] from",
        "slot 0 of buffer BB is overwritten while transfer 4 of slot 0 of buffer BB is under way (ko = 0)"},
       {"BB[(ko + 1) % 2] from", "BB[(ko + 1) % 3] from",
        "slot-in-buffer: statement 7 'get B[16*ko + 16:16*ko + 32, 16*yo:16*yo + 16] -> BB[(ko + 1) % 3] from [16*ko + "
        "16, 16*yo]': touches 2..2 of the slots of buffer BB, which has 2 (ko = 1)"},
       {wait_for_tile, "", "buffer-in-flight: statement 9"},
       {wait_for_tile + compute_tile,
        replaced(compute_tile, "    9", "    8") + replaced(wait_for_tile, "    8", "    9"),
        "slot 0 of buffer BB is read while transfer 4 of slot 0 of buffer BB is under way (ko = 0)"},
       {"   11    wait 10\n", "   11    wait 10\n   12    wait 10\n",
        "transfer-awaited: statement 12 'wait 10': transfer 10 is not under way on this path", false},
       {"wait BB[ko % 2]", "wait BB[(ko + 1) % 2]",
        "slot 0 of buffer BB is read while transfer 4 of slot 0 of buffer BB is under way (ko = 0)"},
       {"matmul(AA, BB[ko % 2])", "matmul(AA, BB[(ko + 1) % 2])",
        "slot 1 of buffer BB is read while transfer 7 of slot 1 of buffer BB is under way, started (ko = 0) (ko = 0)"},
       {"if any(-ko + 3) > 0", "if any(-ko + 2) > 0",
        "no transfer of slot 1 of buffer BB is under way on this path "
        "(ko = 3)"},
       {"from [16*ko + 16, 16*yo]", "from [16*ko + 16, 16*yo - 1]", "transfer-in-buffer: statement 7"},
       {"get B[16*ko + 16:16*ko + 32", "get B[16*ko + 16:16*ko + 31",
        "touches-what-is-there: statement 9 'compute update CC = matmul(AA, BB[ko % 2]) over x=0:1, y=16*yo:16*yo + "
        "16, k=16*ko:16*ko + 16': touches 16..31 of dimension 0 of B, of which buffer BB holds 16..30 (ko = 1)"},
       {"get B[16*ko + 16:16*ko + 32, 16*yo:16*yo + 16] -> BB[(ko + 1) % 2] from [16*ko + 16, 16*yo]",
        "get B[16*ko:16*ko + 16, 16*yo:16*yo + 16] -> BB[(ko + 1) % 2] from [16*ko, 16*yo]",
        "box-in-slot: statement 9 'compute update CC = matmul(AA, BB[ko % 2]) over x=0:1, y=16*yo:16*yo + 16, "
        "k=16*ko:16*ko + 16': slot 1 of buffer BB is used as the box from [16, 16*yo], but statement 7 put the one "
        "from [0, 16*yo] there (ko = 1)"},
       {"wait BB[ko % 2]", "wait 7", "buffer-in-flight: statement 9"},
       {put_and_wait, replaced(put_and_wait, "   11    wait 10\n", ""), "buffer-in-flight: statement 3"},
       {"at 256, 2048 bytes", "at 272, 2048 bytes", "ldm-alignment: buffer BB begins at byte 272"}});
}

TEST_CASE("faults of a peeled and of a crossing product are refused by name", "[slots]") {
  check_faults(peeled, {{"    9    wait BB[1]\n", "", "buffer-in-flight: statement 10"},
                        {"BB[1] from [48, 16*yo]", "BB[0] from [48, 16*yo]",
                         "box-in-slot: statement 10 'compute update CC = matmul(AA, BB from [48, 16*yo]) over x=0:1, "
                         "y=16*yo:16*yo + 16, k=48:64': slot 0 of buffer BB is used"},
                        {"wait BB[1]", "wait BB[0]", "no transfer of slot 0 of buffer BB is under way on this path"},
                        {"for ko < 3", "for ko < 2", "transfer-awaited: statement 9"}});
  check_faults(across, {{"   12  wait CC\n", "", "transfer-awaited: statement 11"},
                        {"   13  wait CC[1]\n", "   13  wait CC\n", "no transfer of slot 0 of buffer CC is under way"},
                        {"   13  wait CC[1]\n", "   13  wait CC[1]\n   14  wait CC[1]\n",
                         "statement 14 'wait CC[1]': no transfer of slot 1 of buffer CC is under way", false},
                        {"-n + 8", "-n + 9", "transfer-in-tensor: statement 8", false},
                        {"put CC[yo % 2]", "put CC[(yo + 1) % 2]", "read-before-there: statement 11"},
                        {"fill CC[yo % 2]", "fill CC", "buffer-in-flight: statement 4"},
                        {"wait BB[(n + 1) % 2]", "wait BB[n % 2]", "buffer-in-flight: statement 10"}});
  check_faults(single_slot, {{"    6      wait BB\n", "", "buffer-in-flight: statement 7"},
                             {"-ko + 3", "-ko + 2", "transfer-awaited: statement 6"},
                             {prologue, "", "transfer-awaited: statement 6"}});
}

TEST_CASE("a put under way is not overwritten", "[slots]") {
  // One slot of C: the next tile's sum would begin while the last one's is still stored.
  const std::string one =
      replaced(replaced(double_buffered, "   11    wait 10\n", ""), "       }\n  }", "       }\n   12  wait CC\n  }");
  CHECK(
      verdict(one) ==
      "buffer-in-flight: statement 3 'fill CC with 0': buffer CC is overwritten while transfer 10 of CC is under way");
  CHECK(wrong_elements(parsed(one)) > 0);
}

TEST_CASE("a wait for a statement is one for a single transfer", "[slots]") {
  CHECK(verdict(matmul(R"(
    0  for yo < 2 of y {
    1    for ko < 2 of k {
    2      get B[16*ko:16*ko + 16, 16*yo:16*yo + 16] -> BB[ko]
         }
    3    wait 2
       }
)")) == "transfer-awaited: statement 3 'wait 2': transfer 2 is under way in 2 slots, one of which is to be named");
}

TEST_CASE("cores whose trips differ are all followed", "[slots]") {
  // 40 elements over 4 cores, 10 each, in tiles of 4: the last core's last tile and every third tile are short.
  const std::string text = R"(nest copy {
  input X f32[37]
  output Y f32[37]
  stage twice {
    Y[x < 37] = (#0 + #0)
    #0 = X[x]
  }
  variables cx, n, xo
  core cx < 4 of x stride 1
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 192 bytes
  buffer XX f32[8] at 0, 64 bytes = X[10*cx + 4*xo] slots 2
  buffer YY f32[8] at 64, 64 bytes = Y[10*cx + 4*xo] slots 2
  body {
    0  let n = min(-10*cx + 37, 10)
    1  get X[10*cx:10*cx + min(n, 4)] -> XX from [10*cx]
    2  for xo < ((n + 3) / 4) of x {
    3    if any(-4*xo + n - 4) > 0 {
    4      get X[10*cx + 4*xo + 4:10*cx + 4*xo + 4 + min(-4*xo + n - 4, 4)] -> XX[(xo + 1) % 2] from [10*cx + 4*xo + 4]
         }
    5    if any(xo - 1) > 0 {
    6      wait YY[xo % 2]
         }
    7    wait XX[xo % 2]
    8    compute map YY[xo % 2] = twice(XX[xo % 2]) over x=10*cx + 4*xo:10*cx + 4*xo + min(-4*xo + n, 4)
    9    put YY[xo % 2] -> Y[10*cx + 4*xo:10*cx + 4*xo + min(-4*xo + n, 4)]
       }
   10  if any(n - 4) > 0 {
   11    wait YY[((n + 3) / 4) % 2]
       }
   12  wait YY[(((n + 3) / 4) - 1) % 2]
  }
}
)";
  // Slots of 8 elements: those of 4 would not all begin at aligned bytes.
  CHECK(verdict(replaced(replaced(text, "XX f32[8] at 0, 64", "XX f32[4] at 0, 32"), "at 64, 64", "at 32, 64")) ==
        "ldm-alignment: slots of 16 bytes of buffer XX do not all begin at multiples of 32");
  CHECK(verdict(text) == "sound");
  std::mt19937 random(5);
  const Tensor x = whole_numbers(random, {37});
  const auto results = interpret(parsed(text), {{StageTensorId(0), x}});
  for (std::int64_t i = 0; i < 37; ++i) CHECK(results.at(StageTensorId(1)).as_double(i) == 2 * x.as_double(i));
  CHECK_THAT(
      verdict(replaced(text, "if any(n - 4) > 0", "if any(n - 8) > 0")),
      Catch::Contains("statement 9") && Catch::Contains("the transfer started (cx = 3, xo = 0) is never awaited"));
}

TEST_CASE("padding stands in every slot", "[slots]") {
  const std::string text = R"(nest rows {
  input X f32[8,16]
  output Y f32[8,16]
  stage sum3 {
    Y[y < 8, x < 16] = sum over s < 3 of (#0 + 0.0)
    #0 = X[y, x + s - 1] else 0
  }
  variables yo
  memory X = X strides [16, 1]
  memory Y = Y strides [16, 1] written
  ldm 832 bytes
  buffer XX f32[2,20] at 0, 320 bytes = X[2*yo, -1] slots 2
  buffer YY f32[2,16] at 320, 128 bytes = Y[2*yo, 0]
  body {
    0  get X[0:2, -1:17] -> XX from [0, -1]
    1  for yo < 4 of y {
    2    if any(-yo + 3) > 0 {
    3      get X[2*yo + 2:2*yo + 4, -1:17] -> XX[(yo + 1) % 2] from [2*yo + 2, -1]
         }
    4    wait XX[yo % 2]
    5    fill YY with 0
    6    compute update YY = sum3(XX[yo % 2]) over y=2*yo:2*yo + 2, x=0:16, s=0:3
    7    put YY -> Y[2*yo:2*yo + 2, 0:16]
    8    wait 7
       }
  }
}
)";
  CHECK_THAT(verdict(text), Catch::StartsWith("transfer-in-tensor: statement 0"));
  const LoopNest padded = clip_and_pad(parsed(text), Target{});
  const std::string after = to_text(padded);
  INFO(after);
  CHECK(verdict(padded) == "sound");
  std::mt19937 random(6);
  const Tensor x = whole_numbers(random, {8, 16});
  const auto results = interpret(padded, {{StageTensorId(0), x}});
  for (std::int64_t i = 0; i < 8 * 16; ++i) {
    double sum = x.as_double(i);
    if (i % 16 > 0) sum += x.as_double(i - 1);
    if (i % 16 < 15) sum += x.as_double(i + 1);
    CHECK(results.at(StageTensorId(1)).as_double(i) == sum);
  }
  const std::size_t fill = after.find("fill XX[1]");
  REQUIRE(fill != std::string::npos);
  CHECK_THAT(verdict(replaced(after, "fill XX[1]", "fill XX")), Catch::Contains("padding-is-there"));
}

}  // namespace
}  // namespace stowage::slots_test
