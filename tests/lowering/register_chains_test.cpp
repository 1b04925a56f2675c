// SPDX-License-Identifier: Apache-2.0
// What goes with a sum in its registers, and what of an intermediate's box is kept from tile to tile.
#include <catch2/catch.hpp>

#include "chain_nests.h"
#include "fixtures.h"
#include "lowering/check/check_nest.h"
#include "lowering/interpret/interpret.h"
#include "lowering/ir/kept_loads.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/nest/passes.h"
#include "lowering/time/counts.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"
#include "plain_counts.h"

namespace stowage::register_chains_test {
namespace {

using test::ChainNest;

Target machine() {
  Target target;
  target.name = "machine";
  return target;
}

LoopNest marked(const ChainNest& chain) {
  return slide_windows(keep_in_registers(parsed(chain.text()), machine()), machine());
}

/// The lines of the nest's text that have this in them, without what stands before it.
std::string lines_with(const LoopNest& nest, const std::string& what) {
  const std::string text = to_text(nest);
  std::string found;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    found += text.substr(at, text.find('\n', at) - at) + "\n";
  }
  return found;
}

std::string verdict(const LoopNest& nest) { return verify(nest, machine()).value_or("sound"); }

std::string verdict(const std::string& text) { return verdict(parsed(text)); }

std::string replaced(std::string text, const std::string& what, const std::string& instead) {
  INFO(what);
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

}  // namespace

TEST_CASE("a sum begins in registers, what stands in its place behind it is computed there, and rows are kept",
          "[registers]") {
  for (const bool padded : {false, true}) {
    for (const int summed_tiles : {1, 2}) {
      const ChainNest chain{2, 4, 4, summed_tiles, 8, padded};
      INFO(chain.text());
      REQUIRE(verdict(chain.text()) == "sound");
      const LoopNest nest = marked(chain);
      CHECK(verdict(nest) == "sound");
      CHECK(check_nest(nest, machine()).faults.empty());
      CHECK(lines_with(nest, "fill TT") == "fill TT with 0 in registers sliding along yo  // begins\n");
      CHECK_THAT(lines_with(nest, "compute map"), Catch::EndsWith(" as register_block lane l block y\n"));
      CHECK(to_text(parsed(to_text(nest))) == to_text(nest));
    }
  }
}

TEST_CASE("of a sliding window the first trip computes all, the others what is new", "[registers]") {
  const LoopNest nest = marked({});
  const ComputedBoxes computed(nest);
  CHECK_THAT(lines_with(computed.nest(), "let product_y_from"), Catch::Contains(" = max(2*yo, 2*yo + 2*min(yo, 1))\n"));
  const std::string box = "over y=product_y_from:2*yo + 4 <= 4, l=0:8";
  CHECK_THAT(lines_with(computed.nest(), "compute update TT"), Catch::Contains(box));
  CHECK_THAT(lines_with(computed.nest(), "compute map"), Catch::Contains(box));
  const NestCounts counts = predict_counts(nest);
  CHECK(counts.compute.at(StatementId(8)).points == (4 + 3 * 2) * 8 * 4);
  CHECK(counts.compute.at(StatementId(9)).points == (4 + 3 * 2) * 8);
  CHECK(counts.fill.at(StatementId(3)).elements == 3 * 2 * 8);  // moved
  CHECK(predict_counts(parsed(ChainNest{}.text())).compute.at(StatementId(8)).points == 4 * 4 * 8 * 4);
  const NestCounts walked = test::PlainWalk(computed.nest()).run();
  CHECK(walked.compute.at(StatementId(8)).points_of_busiest == counts.compute.at(StatementId(8)).points_of_busiest);
  CHECK(walked.fill.at(StatementId(3)).elements_of_busiest == counts.fill.at(StatementId(3)).elements_of_busiest);
}

TEST_CASE("what only the kept rows of a sliding window ask for is not loaded again", "[registers]") {
  const auto elements_of_x = [](const LoopNest& nest) {
    const NestCounts counts = predict_counts(nest);
    std::int64_t bytes = 0;
    visit_statements(nest.body, [&](const Stmt& s) {
      const auto* dma = std::get_if<Dma>(&s.node);
      if (dma != nullptr && nest.tensors[dma->nest_tensor].name == "X") bytes += counts.dma.at(s.id).bytes;
    });
    return bytes / byte_size(ElementType::f32);
  };
  for (const bool padded : {false, true}) {
    for (const int summed_tiles : {1, 2}) {
      for (const int slots : {1, 2, 3, 4}) {
        const ChainNest chain{2, 4, 4, summed_tiles, 8, padded, slots};
        INFO(chain.text());
        const LoopNest loaded_ahead = double_buffer(parsed(chain.text()), machine());
        REQUIRE(verdict(loaded_ahead) == "sound");
        const LoopNest nest = slide_windows(keep_in_registers(loaded_ahead, machine()), machine());
        REQUIRE(sliding_windows(nest).size() == 1);
        INFO(to_text(ComputedBoxes(nest).nest()));
        // Each row once. The others are those that two tiles of four have in common.
        CHECK(elements_of_x(nest) == chain.rows() * chain.summed);
        CHECK(elements_of_x(loaded_ahead) == (chain.rows() + 3 * 2) * chain.summed);
        // Made of one, they come to the same once more.
        const LoopNest computed = ComputedBoxes(nest).nest();
        CHECK(lines_with(ComputedBoxes(computed).nest(), "get X") == lines_with(computed, "get X"));
      }
    }
  }
  const auto is_shorter = [](const std::string& text) {
    const LoopNest nest = slide_windows(keep_in_registers(parsed(text), machine()), machine());
    REQUIRE(sliding_windows(nest).size() == 1);
    return !shorter_loads(nest).empty();
  };
  const std::string text = ChainNest{}.text();
  CHECK(is_shorter(text));
  // Something else is put into the buffer.
  CHECK_FALSE(is_shorter(replaced(text, "    2  for yo", "   99  fill XX with 0\n    2  for yo")));
  // Of two gets into one slot either may be for another trip.
  CHECK_FALSE(is_shorter(replaced(text, "wait 4\n", "wait 4\n   98    get X[2*yo:2*yo + 4, 0:4] -> XX\n")));
}

TEST_CASE("what is in the way of a chain", "[registers]") {
  const auto is_found = [](const std::string& text) { return !possible_register_chains(parsed(text)).empty(); };
  const std::string text = ChainNest{2, 4, 4, 2, 8, false}.text();
  REQUIRE(is_found(text));
  // The buffer is read between the fill and the sum.
  CHECK_FALSE(
      is_found(replaced(text, "    4    for ko", "   99    fill RR around [0:1, 0:8] with 0\n    4    for ko")));
  // The loop of the sum has another statement behind it, so its last trip does not end with the sum.
  CHECK_FALSE(is_found(replaced(text, "       }\n", "   98      barrier\n       }\n")));
  // The fill stands outside of a loop that moves the sum's box.
  std::string outside = replaced(text, "    3    fill TT with 0  // begins\n", "");
  outside = replaced(outside, "    2  for yo", "    2  fill TT with 0\n    3  for yo");
  CHECK_FALSE(is_found(outside));
  // A sum of nothing, for which no code is emitted.
  const std::string nothing = ChainNest{}.text();
  REQUIRE(is_found(nothing));
  CHECK_FALSE(is_found(replaced(nothing, "l=0:8, k=0:4 as", "l=0:8, k=0:0 <= 1 as")));
  // How often it is summed the data say: they may change before the last trip.
  CHECK_FALSE(is_found(replaced(text, "for ko < 2 of k", "for ko < 1 + @0[1] of k")));
  // A sum whose form is another one.
  CHECK_FALSE(is_found(replaced(text, "as register_block lane l block y", "as vector lane l")));
  const auto ends = [](const std::string& changed) {
    return possible_register_chains(parsed(changed)).at(0).ends.size();
  };
  REQUIRE(ends(text) == 1);
  CHECK(ends(replaced(text, "bound(BB, TT) over y=2*yo:2*yo + 4", "bound(BB, TT) over y=2*yo:2*yo + 3")) == 0);
  CHECK(ends(replaced(text, "R[y < 10, l < 8] = max((#1 + #0), 0.0)", "R[y < 10, l < 8] = exp((#1 + #0))")) == 0);
}

TEST_CASE("forms that are chosen anew take along what was carried in registers", "[registers]") {
  // With the pooling in a register block, which the text has in vectors.
  const std::string text =
      replaced(replaced(to_text(marked({})), "fill YY with -inf", "fill YY with -inf in registers"),
               "w=0:3 as vector lane l", "w=0:3 as register_block lane l block y");
  CHECK(to_text(choose_forms(parsed(text), machine())) == text);
  // Blocks that a person has left out of the sum and of the bound are chosen for both.
  std::string without = text;
  for (int times = 0; times < 2; ++times) without.erase(without.find(" block y"), 8);
  REQUIRE(verdict(without) == "sound");
  CHECK(to_text(choose_forms(parsed(without), machine())) == text);
  // A machine without vectors has no such blocks, and keeps nothing in them.
  Target scalar = machine();
  scalar.cores.vector_lanes = 1;
  const LoopNest plain = choose_forms(parsed(text), scalar);
  CHECK(verify(plain, scalar).value_or("sound") == "sound");
  CHECK_THAT(to_text(plain), !Catch::Contains("registers"));
  CHECK(verify(parsed(text), scalar).value_or("sound") != "sound");
}

TEST_CASE("what is in the way of a sliding window", "[registers]") {
  const auto is_found = [](const std::string& text) { return !possible_sliding_windows(parsed(text)).empty(); };
  const std::string text = ChainNest{}.text();
  REQUIRE(is_found(text));
  // Something else is written over what would be kept.
  CHECK_FALSE(is_found(replaced(text, "buffer YY f32[2,8] at 352", "buffer YY f32[2,8] at 224")));
  // So is a fill around nothing, of a buffer that lies over it; and what is stored is followed slot by slot.
  const std::string over = replaced(text, "  body {", "  buffer ZZ f32[4,8] at 224, 128 bytes = T[2*yo, 0]\n  body {");
  REQUIRE(is_found(over));
  CHECK_FALSE(
      is_found(replaced(over, "   10    fill YY", "   99    fill ZZ around [0:0, 0:8] with 0\n   10    fill YY")));
  CHECK_FALSE(is_found(replaced(text, "put YY -> Y[2*yo:2*yo + 2, 0:8]", "put RR -> Y[2*yo:2*yo + 2, 0:8]")));
  // Where the box lies the data say, which may be others in the next trip.
  CHECK_FALSE(is_found(replaced(replaced(text, "T[2*yo, 0]", "T[2*yo, @0[9]]"), "R[2*yo, 0]", "R[2*yo, @0[9]]")));
  // Tiles have no row in common.
  CHECK_FALSE(is_found(replaced(replaced(text, "T[2*yo, 0]", "T[4*yo, 0]"), "R[2*yo, 0]", "R[4*yo, 0]")));
  // The box goes back.
  CHECK_FALSE(is_found(replaced(replaced(text, "T[2*yo, 0]", "T[-2*yo, 0]"), "R[2*yo, 0]", "R[-2*yo, 0]")));
  // The trip before ends short of what this one would leave out.
  const std::string shorter =
      replaced(text, "product(XX, WW) over y=2*yo:2*yo + 4", "product(XX, WW) over y=2*yo:2*yo + 3");
  CHECK_FALSE(is_found(replaced(shorter, "bound(BB, TT) over y=2*yo:2*yo + 4", "bound(BB, TT) over y=2*yo:2*yo + 3")));
  // What the trips have in common moves along another dimension, too.
  CHECK_FALSE(is_found(replaced(replaced(text, "T[2*yo, 0]", "T[2*yo, yo]"), "R[2*yo, 0]", "R[2*yo, yo]")));
}

TEST_CASE("marks that cannot be are refused", "[registers]") {
  const std::string text = to_text(marked({}));
  REQUIRE(verdict(text) == "sound");
  CHECK_THAT(verdict(replaced(text, "fill YY with -inf", "fill YY with -inf in registers")),
             Catch::Contains("in-registers") && Catch::Contains("no sum in register blocks begins with it"));
  CHECK_THAT(verdict(replaced(text, "fill TT with 0 in registers sliding", "fill TT with 0 sliding")),
             Catch::Contains("sliding-window"));
  // The bound's blocks are others than the sum's.
  const std::size_t map = text.find("compute map");
  std::string other = text;
  other.erase(other.find(" block y", map), 8);
  CHECK_THAT(verdict(other), Catch::Contains("its blocks are not those of the sum"));
  // The bound stands for itself, behind a sum that is stored in another form.
  std::string alone = text;
  alone.replace(alone.find("as register_block lane l block y"), 32, "as vector lane l");
  CHECK_THAT(verdict(replaced(alone, " in registers sliding along yo", "")),
             Catch::Contains("not computed in place of a sum in register blocks"));
}

}  // namespace stowage::register_chains_test
