// SPDX-License-Identifier: Apache-2.0
// Sums that begin in registers, with what stands in their place behind them and rows that are kept from tile to tile:
// nests that are marked, emitted, compiled and run.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

#include <catch2/catch.hpp>

#include "emitted_program.h"
#include "emitter/athread/kernel.h"
#include "emitter/emulation/emulate.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/nest/passes.h"
#include "lowering/verify/verify.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/lowering/chain_nests.h"
#include "tests/lowering/parsed_nest.h"
#include "tests/places.h"
#include "tests/random_runs.h"

namespace stowage {
namespace {

using test::ChainNest;

/// By the definition, exact: of small whole numbers.
std::vector<float> pool_of(const ChainNest& chain, const Tensor& x, const Tensor& w, const Tensor& b) {
  std::vector<float> pooled;
  for (int y = 0; y < chain.tile * chain.tiles; ++y) {
    for (int l = 0; l < chain.lanes; ++l) {
      double largest = -1;
      for (int row = y - (chain.padded ? 1 : 0), end = row + 3; row < end; ++row) {
        double sum = 0;
        const bool inside = row >= 0 && row < chain.rows();
        for (int k = 0; inside && k < chain.summed; ++k)
          sum += x.as_double(row * chain.summed + k) * w.as_double(k * chain.lanes + l);
        largest = std::max(largest, inside ? std::max(sum + b.as_double(l), 0.0) : 0.0);
      }
      pooled.push_back(static_cast<float>(largest));
    }
  }
  return pooled;
}

}  // namespace

TEST_CASE("random sums in registers compute what their nests mean, rows that are kept and all") {
  const std::uint32_t seed = 20261127;
  std::mt19937 random(seed);
  const Target target = fixtures::sunway();
  int slide = 0;
  for (int round = 0; round < 24; ++round) {
    ChainNest chain;
    chain.tile = 1 + static_cast<int>(random() % 7);
    chain.tiles = 1 + static_cast<int>(random() % 4);
    chain.summed_tiles = 1 + static_cast<int>(random() % 3);
    chain.summed = chain.summed_tiles * (1 + static_cast<int>(random() % 5));
    chain.lanes = 4 + static_cast<int>(random() % 21);
    chain.padded = random() % 2 == 0;
    chain.slots = 1 + static_cast<int>(random() % 4);
    INFO("seed " << seed << ", round " << round << "\n" << chain.text());
    LoopNest nest = parsed(chain.text());
    REQUIRE(verify(nest, target).value_or("sound") == "sound");
    nest = double_buffer(std::move(nest), target);
    nest = slide_windows(keep_in_registers(std::move(nest), target), target);
    REQUIRE(verify(nest, target).value_or("sound") == "sound");
    REQUIRE(register_chains(nest).size() == 1);
    REQUIRE(register_chains(nest).front().ends.size() == 1);
    slide += sliding_windows(nest).empty() ? 0 : 1;
    const Program program = fixtures::program_of(nest, target);
    const EmittedProgram emitted = emit_athread(program);
    CHECK(test::complaints_of_vendor_headers({&emitted}) == "");
    const std::vector<Tensor> inputs = {fixtures::whole_numbers(random, {chain.rows(), chain.summed}),
                                        fixtures::whole_numbers(random, {chain.summed, chain.lanes}),
                                        fixtures::whole_numbers(random, {chain.lanes})};
    EmulationOptions options;
    options.level = EmulationLevel::check;
    options.sanitize = round % 4 == 0;
    Diagnostics diagnostics;
    const auto run = emulate(program, emitted, inputs, options, {}, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(run);
    const std::vector<float> wanted = pool_of(chain, inputs[0], inputs[1], inputs[2]);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      REQUIRE(run->outputs.front().as_double(static_cast<std::int64_t>(i)) == static_cast<double>(wanted[i]));
  }
  CHECK(slide >= 12);
}

TEST_CASE("emitted code of a sum in registers with rows that are kept is as written down") {
  const Target target = fixtures::sunway();
  for (const int summed_tiles : {1, 2}) {
    const ChainNest chain{2, 4, 4, summed_tiles, 8, true};
    const LoopNest nest = slide_windows(keep_in_registers(parsed(chain.text()), target), target);
    const std::string text = to_text(emit_kernel(nest, target, "kernel", {}).lines);
    const auto golden =
        test::source_folder() / "tests/emitter/golden" / (summed_tiles == 1 ? "chain.s.c" : "chain_in_trips.s.c");
    if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
    CHECK(text == fixtures::read_text(golden));
  }
}

}  // namespace stowage
