// SPDX-License-Identifier: Apache-2.0
// Panels that the cores of a mesh exchange by register communication, as the matrix products of swDNN and swGEMM do:
// nests that are written, checked, timed, emitted, compiled and run.
#include <algorithm>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "emitted_program.h"
#include "emitter/emulation/emulate.h"
#include "lowering/check/check_nest.h"
#include "lowering/ir/register_broadcasts.h"
#include "lowering/simulate/simulate.h"
#include "lowering/time/time_model.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/lowering/parsed_nest.h"
#include "tests/random_runs.h"

namespace stowage {
namespace {

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  INFO(part);
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

/// C = A * B on 8 x 8 cores. Core (cx, cy) has one tile of C, and of A and B what it loads once; in step s column s
/// sends its part of A along the rows and row s its part of B down the columns.
struct Product {
  int tile_x = 4, tile_y = 8, tile_k = 8;
  int fewer_rows = 0;  ///< of C, than 8 tiles have
  int pieces = 1;      ///< in which what a core has is sent, one a step; of A more than one only where tile_x is 1

  [[nodiscard]] std::string text() const {
    const int m = 8 * tile_x - fewer_rows, n = 8 * tile_y, k = 8 * tile_k;
    const auto aligned = [](int elements) { return (4 * elements + 31) / 32 * 32; };
    const std::string x = fewer_rows > 0 ? fmt::format("{0}*cx:{0}*cx + min({1} - {0}*cx, {0})", tile_x, m)
                                         : fmt::format("{0}*cx:{0}*cx + {0}", tile_x);
    const std::string y = fmt::format("{0}*cy:{0}*cy + {0}", tile_y);
    const int step_k = tile_k / pieces;
    const std::string sender = pieces == 1 ? "s" : fmt::format("(s / {})", pieces);
    const auto part = [&](const std::string& of) {
      return fmt::format("{0}*{1}:{0}*{1} + {0}", of == "s" ? step_k : tile_k, of);
    };
    const int bb = aligned(tile_x * tile_k), ar = bb + aligned(tile_k * tile_y);
    const int br = ar + aligned(tile_x * step_k), cc = br + aligned(step_k * tile_y);
    std::string text = fmt::format(
        "nest matmul {{\n  input A f32[{0},{2}]\n  input B f32[{2},{1}]\n  output C f32[{0},{1}]\n"
        "  stage matmul {{\n    C[x < {0}, y < {1}] = sum over k < {2} of (#0 * #1)\n    #0 = A[x, k]\n"
        "    #1 = B[k, y]\n  }}\n  variables cx, cy, s\n  core cx < 8 of x stride 8\n  core cy < 8 of y stride 1\n"
        "  mesh 8 rows 8 columns\n  memory A = A strides [{2}, 1]\n  memory B = B strides [{1}, 1]\n"
        "  memory C = C strides [{1}, 1] written\n",
        m, n, k);
    const auto buffer = [&](const char* name, const char* tensor, int rows, int columns, int at,
                            const std::string& origin) {
      text += fmt::format("  buffer {} f32[{},{}] at {}, {} bytes = {}[{}]\n", name, rows, columns, at,
                          4 * rows * columns, tensor, origin);
    };
    text += fmt::format("  ldm {} bytes\n", cc + aligned(tile_x * tile_y));
    buffer("AA", "A", tile_x, tile_k, 0, fmt::format("{}*cx, {}*cy", tile_x, tile_k));
    buffer("BB", "B", tile_k, tile_y, bb, fmt::format("{}*cx, {}*cy", tile_k, tile_y));
    buffer("AR", "A", tile_x, step_k, ar, fmt::format("{}*cx, {}*s", tile_x, step_k));
    buffer("BR", "B", step_k, tile_y, br, fmt::format("{}*s, {}*cy", step_k, tile_y));
    buffer("CC", "C", tile_x, tile_y, cc, fmt::format("{}*cx, {}*cy", tile_x, tile_y));
    text += fmt::format(
        "  body {{\n    0  get A[{0}, {2}] -> AA\n    1  get B[{3}, {1}] -> BB\n    2  fill CC with 0\n    3  wait 0\n"
        "    4  wait 1\n    5  for s < {5} of k {{\n    6    broadcast AA of column {6} -> AR of row over [{0}, {4}]\n"
        "    7    broadcast BB of row {6} -> BR of column over [{4}, {1}]\n    8    wait 6\n    9    wait 7\n"
        "   10    compute update CC = matmul(AR, BR) over x={0}, y={1}, k={4}\n       }}\n"
        "   11  put CC -> C[{0}, {1}]\n   12  wait 11\n  }}\n}}\n",
        x, y, part("cy"), part("cx"), part("s"), 8 * pieces, sender);
    return text;
  }
};

/// The plain product, exact: of small whole numbers.
std::vector<float> product_of(const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.shape()[0], k = a.shape()[1], n = b.shape()[1];
  std::vector<float> c(static_cast<std::size_t>(m * n), 0);
  for (std::int64_t x = 0; x < m; ++x)
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t i = 0; i < k; ++i)
        c[static_cast<std::size_t>(x * n + y)] += static_cast<float>(a.as_double(x * k + i) * b.as_double(i * n + y));
  return c;
}

/// Checks that the nest is emitted as the vendor's headers want it, and computes the product in emulation.
void check_computes(const LoopNest& nest, const Target& target, EmulationLevel level, std::mt19937& random,
                    bool sanitize = false) {
  const Program program = fixtures::program_of(nest, target);
  const EmittedProgram emitted = emit_athread(program);
  CHECK(test::complaints_of_vendor_headers({&emitted}) == "");
  const Tensor a = fixtures::whole_numbers(random, nest.stages.tensors[StageTensorId(0)].shape);
  const Tensor b = fixtures::whole_numbers(random, nest.stages.tensors[StageTensorId(1)].shape);
  const std::vector<Tensor> inputs = {a, b};
  EmulationOptions options;
  options.level = level;
  options.sanitize = sanitize;
  options.workers = 2;
  Diagnostics diagnostics;
  const auto run = emulate(program, emitted, inputs, options, {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(run);
  const std::vector<float> wanted = product_of(a, b);
  const Tensor& c = run->outputs.front();
  REQUIRE(c.size() == static_cast<std::int64_t>(wanted.size()));
  for (std::int64_t i = 0; i < c.size(); ++i)
    REQUIRE(c.as_double(i) == static_cast<double>(wanted[static_cast<std::size_t>(i)]));
}

}  // namespace

TEST_CASE("panels go along rows and down columns of the mesh, register by register") {
  const LoopNest nest = parsed(Product{}.text());
  const Target target = fixtures::sunway();
  CHECK(verify(nest, target).value_or("sound") == "sound");
  CHECK(verify_results(nest, target).value_or("sound") == "sound");
  const NestCheck check = check_nest(nest, target);
  CHECK(check.faults.empty());
  CHECK(check.not_looked_at == 0);
  std::mt19937 random(5);
  for (const EmulationLevel level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict})
    check_computes(nest, target, level, random);
  const EmittedProgram emitted = emit_athread(fixtures::program_of(nest, target));
  std::string kernel;
  for (const EmittedFile& file : emitted.files) {
    if (file.path.find("matmul") != std::string::npos) kernel = file.text;
  }
  CHECK_THAT(kernel, Catch::Contains("simd_putr(sent[i], TO_ALL);") && Catch::Contains("simd_getc(taken[i]);"));
  CHECK_THAT(kernel, Catch::Contains("broadcast_along_row(core % 8 == t_s, ldm->t_AA, ldm->t_AR, 128);"));
}

TEST_CASE("the last register of a box that is sent lies before the parameters, also where the box ends earlier") {
  Product product;
  product.tile_x = product.tile_y = 1;
  product.tile_k = 3;
  // 12 bytes of B are the last buffer.
  const std::string moved = replaced(product.text(), "buffer BR f32[3,1] at 96", "buffer BR f32[3,1] at 128");
  const LoopNest nest = parsed(replaced(moved, "buffer CC f32[1,1] at 128", "buffer CC f32[1,1] at 96"));
  const Target target = fixtures::sunway();
  CHECK(verify(nest, target).value_or("sound") == "sound");
  std::mt19937 random(11);
  for (const EmulationLevel level : {EmulationLevel::check, EmulationLevel::strict})
    check_computes(nest, target, level, random);
  const EmittedProgram emitted = emit_athread(fixtures::program_of(nest, target));
  const auto kernel = std::find_if(emitted.files.begin(), emitted.files.end(), [](const EmittedFile& file) {
    return file.path.find("matmul") != std::string::npos;
  });
  REQUIRE(kernel != emitted.files.end());
  CHECK_THAT(kernel->text, Catch::Contains("B: 12 bytes at 128 */\n  char gap4_[20];\n  struct matmul_"));
}

TEST_CASE("what a core sends in pieces is named by the core that has it only") {
  Product product;
  product.tile_x = 1;
  product.tile_k = 16;
  product.pieces = 2;
  const LoopNest nest = parsed(product.text());
  const Target target = fixtures::sunway();
  CHECK(verify(nest, target).value_or("sound") == "sound");
  CHECK(verify_results(nest, target).value_or("sound") == "sound");
  CHECK(check_nest(nest, target).faults.empty());
  std::mt19937 random(7);
  check_computes(nest, target, EmulationLevel::check, random, /*sanitize=*/true);
  check_computes(nest, target, EmulationLevel::strict, random, /*sanitize=*/true);
}

TEST_CASE("what is sent by registers has its cost, in closed form and simulated") {
  const LoopNest nest = parsed(Product{}.text());
  Target target = fixtures::sunway();
  target.cores.column_broadcast = ColumnBroadcast{11, 2};
  const NestCounts counts = predict_counts(nest);
  const TimeEstimate estimate = estimate_time(nest, counts, target);
  std::vector<std::string> broadcasts;
  for (const TimeTerm& term : estimate.terms) {
    if (kind_of(term.cost) == CostKind::broadcast) broadcasts.push_back(formula_text(term.cost));
  }
  // 4 x 8 elements are 4 registers, 8 x 8 are 8; the sender stores each too.
  CHECK(broadcasts == std::vector<std::string>{"8 broadcasts along each row * 11 cycles + 32 registers * 3 cycles",
                                               "8 broadcasts down each column * 11 cycles + 64 registers * 3 cycles"});
  const auto simulated = simulate(nest, target);
  const Simulation& simulation = std::get<Simulation>(simulated);
  CHECK(simulation.cycles >= 2 * 8 * 11 + 96 * 3);
  CHECK(static_cast<double>(estimate.cycles) == Approx(static_cast<double>(simulation.cycles)).epsilon(0.05));
}

TEST_CASE("random panels that are exchanged compute the product", "[random]") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261127);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 6);
  int short_parts = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::mt19937 random(static_cast<unsigned>(seed + round));
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    Product product;
    product.tile_x = draw(1, 6);
    product.tile_y = 8 * draw(1, 3);
    product.tile_k = 8 * draw(1, 2);
    if (product.tile_x == 1) product.pieces = product.tile_k / 8;
    // Down to no row for the last cores.
    product.fewer_rows = static_cast<int>(random() % 2) * draw(1, 2 * product.tile_x);
    if (product.fewer_rows > 0) ++short_parts;
    const std::string text = product.text();
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1\n" << text);
    const LoopNest nest = parsed(text);
    const Target target = fixtures::sunway();
    REQUIRE(verify(nest, target).value_or("sound") == "sound");
    REQUIRE(check_nest(nest, target).faults.empty());
    const auto without = broadcasts_not_by_registers(nest, target);
    if (!without.empty()) INFO(without.begin()->second);
    REQUIRE(without.empty());
    check_computes(nest, target, EmulationLevel::check, random);
  }
  if (rounds > 5) CHECK(short_parts > 0);
}

TEST_CASE("what cannot go register by register is refused with the reason") {
  const std::string text = Product{}.text();
  const auto why = [](const std::string& changed, const Target& target) {
    const LoopNest nest = parsed(changed);
    const auto found = verify_results(nest, target);
    REQUIRE(found);
    CHECK(found->starts_with("own-ldm: "));
    CHECK(without_rate(nest, target).has_value());
    return found->substr(found->rfind("': ") + 3);
  };
  const Target target = fixtures::sunway();
  const std::string awaited_behind = replaced(replaced(replaced(text, "    8    wait 6\n", ""), "       }\n   11  put",
                                                       "   11    wait 6\n       }\n   12  put"),
                                              "   12  wait 11", "   13  wait 12");
  CHECK(why(awaited_behind, target) ==
        "it is to be awaited at once, behind nothing but broadcasts: the cores make it while they wait");
  std::string behind_a_get = replaced(text, "    8    wait 6\n    9    wait 7\n   10    compute",
                                      "    8    wait 0\n    9    wait 6\n   10    wait 7\n   11    compute");
  behind_a_get = replaced(replaced(behind_a_get, "   11  put", "   12  put"), "   12  wait 11", "   13  wait 12");
  CHECK(why(behind_a_get, target).starts_with("it is to be awaited at once"));
  CHECK(why(replaced(text, "8*s:8*s + 8]\n    7", "8*s:8*s + 4]\n    7"), target) == "it is not one piece of AA");
  Product odd;
  odd.tile_y = 12;
  const std::string of_b = "[8*s:8*s + 8, 12*cy:12*cy + 12]\n    8";
  CHECK(why(replaced(odd.text(), of_b, "[8*s + 1:8*s + 8, 12*cy:12*cy + 12]\n    8"), target) ==
        "it begins in BB at no multiple of 32 bytes, a register");
  CHECK(why(replaced(odd.text(), of_b, "[8*s:8*s + 7, 12*cy:12*cy + 12]\n    8"), target) ==
        "it takes parts of 336 bytes of BB, no whole registers of 32");
  CHECK(why(replaced(text, "AA of column s -> AR of row", "AA of core s -> AR of mesh"), target) ==
        "registers go along a row or down a column, not to the mesh");
  Target other = target;
  other.cores.mesh_rows = 4;
  CHECK(why(text, other) == "all 4 cores of a column take part, and the nest has 8");
  other.cores.column_broadcast.reset();
  CHECK(why(text, other) == "nothing is sent along a row (cores.column_broadcast)");
}

}  // namespace stowage
