// SPDX-License-Identifier: Apache-2.0
// The checker that plays nests through: one nest for each family of faults, good plans, and plans that were changed by
// chance. STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it.
#include <algorithm>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "lowering/check/check_nest.h"
#include "lowering/check/sum_terms.h"
#include "lowering/interpret/interpret.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "tests/lowering/changed_nest.h"
#include "tests/lowering/parsed_nest.h"
#include "tests/random_runs.h"

namespace stowage::check_nest_test {
namespace {

/// Two cores, each with half of the columns; the next tile of B is loaded while this one is computed with.
const std::string product = R"(nest product {
  input A f32[1,64]
  input B f32[64,32]
  output C f32[1,32]
  stage product {
    C[x < 1, y < 32] = sum over k < 64 of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
  }
  variables y_core, y_at, ko, k_at, rc
  core y_core < 2 of y stride 1
  mesh 1 rows 2 columns
  memory A = A strides [64, 1]
  memory B = B strides [32, 1]
  memory C = C strides [32, 1] written
  ldm 2432 bytes
  buffer AA f32[1,64] at 0, 256 bytes = A[0, 0]
  buffer BB f32[16,16] at 256, 2048 bytes = B[k_at, y_at] slots 2
  buffer CC f32[1,16] at 2304, 64 bytes = C[0, y_at]
  body {
    0  let y_at = 16*y_core
    1  get A[0:1, 0:64] -> AA
    2  get B[0:16, y_at:y_at + 16] -> BB from [0, y_at]
    3  wait 1
    4  fill CC with 0
    5  for ko < 4 of k {
    6    let k_at = 16*ko
    7    wait BB[ko % 2]
    8    if any(3 - ko) > 0 {
    9      get B[16*ko + 16:16*ko + 32, y_at:y_at + 16] -> BB[(ko + 1) % 2] from [16*ko + 16, y_at]
         }
   10    compute update CC = product(AA, BB[ko % 2]) over x=0:1, y=y_at:y_at + 16, k=k_at:k_at + 16
       }
   11  put CC -> C[0:1, y_at:y_at + 16]
   12  wait 11
  }
}
)";

/// The machine that it is for.
Target two_cores() {
  Target target;
  target.name = "pair";
  target.cores.count = target.cores.mesh_columns = 2;
  target.cores.mesh_rows = 1;
  return target;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = product;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string place_of(const Execution& execution) {
  std::string text = fmt::format("{} on core {}", execution.statement.index(), execution.core);
  for (const auto& [variable, value] : execution.iteration) text += fmt::format(" {}={}", variable, value);
  return text;
}

/// The faults, a line each.
std::string told(const std::string& text, const Target& target = two_cores()) {
  std::string lines;
  for (const Fault& fault : check_nest(parsed(text), target).faults) {
    lines += fmt::format("{}: {}", name_of(fault.family), fault.what);
    if (fault.at) lines += fmt::format(" @ {}", place_of(*fault.at));
    if (fault.other) lines += fmt::format(" & {}", place_of(*fault.other));
    lines += "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("a sound nest has no fault, and is walked by every core") {
  const NestCheck check = check_nest(parsed(product), two_cores());
  CHECK(check.faults.empty());
  CHECK(check.complete);
  CHECK(check.not_looked_at == 0);
  CHECK(check.transfers == 2 * (1 + 4 + 1));
  CHECK(check.executions == 2 * (6 + 4 + 4 + 3 + 4));
  CHECK_FALSE(check_nest(parsed(product), two_cores(), 41).complete);
}

TEST_CASE("faults of every family are found where they happen") {
  // A buffer where none may begin; one that is too large for the LDM.
  CHECK(told(with("at 2304, 64", "at 2308, 64")) == "capacity: buffer CC begins at byte 2308, no multiple of 32\n");
  Target small = two_cores();
  small.ldm.bytes = 2340;
  small.ldm.reserved = 0;
  CHECK(told(product, small) ==
        "capacity: buffer CC takes bytes 2304 to 2368 of the LDM, which has 2340 for buffers\n");
  // A wait that is missing, or of another slot.
  CHECK(
      told(with("    3  wait 1\n", "")) ==
      "race: elements [0:1, 0:16] of AA are read while a transfer under way fills [0:1, 0:64] @ 10 on core 0 ko=0 & 1 "
      "on core 0\n"
      "wait: nothing waits for this transfer before the kernel ends @ 1 on core 0\n");
  CHECK(told(with("   12  wait 11\n", "")) ==
        "wait: nothing waits for this transfer before the kernel ends @ 11 on core 0\n");
  CHECK(
      told(with("wait BB[ko % 2]", "wait BB")) ==
      "wait: no transfer is under way in slot 0 of BB @ 7 on core 0 ko=1\n"
      "race: elements [0:16, 0:16] of BB are read while a transfer under way fills [0:16, 0:16] @ 10 on core 0 ko=1 & "
      "9 on core 0 ko=0\n"
      "race: elements [0:16, 0:16] of BB are written while a transfer under way fills [0:16, 0:16] @ 9 on core 0 ko=2 "
      "& 9 on core 0 ko=0\n"
      "wait: nothing waits for this transfer before the kernel ends @ 9 on core 0 ko=0\n");
  // Slots exchanged; one slot too far.
  CHECK(
      told(with("product(AA, BB[ko % 2])", "product(AA, BB[(ko + 1) % 2])")) ==
      "race: elements [0:16, 0:16] of BB are read while a transfer under way fills [0:16, 0:16] @ 10 on core 0 ko=0 & "
      "9 on core 0 ko=0\n"
      "uninitialised: B[48:64, 0:16] is read from BB, which holds B[32:48, 0:16] there @ 10 on core 0 ko=3 & 9 on core "
      "0 ko=1\n");
  CHECK(told(with("-> BB[(ko + 1) % 2]", "-> BB[ko + 1]"))
            .find("bounds: buffer BB has no slot 2, but 2 @ 9 on core 0 ko=1\n") != std::string::npos);
  // A row that is not loaded: first what nothing has put there, then that of an earlier tile.
  CHECK(
      told(with("16*ko + 32, y_at", "16*ko + 31, y_at")) ==
      "uninitialised: B[31:32, 0:16] is read from BB, where nothing has put it @ 10 on core 0 ko=1\n"
      "uninitialised: B[47:48, 0:16] is read from BB, which holds B[15:16, 0:16] there @ 10 on core 0 ko=2 & 2 on core "
      "0\n");
  // A box that goes to another place of the buffer than it should.
  CHECK(told(with("-> BB[(ko + 1) % 2] from [16*ko + 16", "-> BB[(ko + 1) % 2] from [16*ko + 15"))
            .starts_with("bounds: elements [1:17, 0:16] of buffer BB are touched, which has [0:16, 0:16] @ 9 on core 0 "
                         "ko=0\n"));
  CHECK(told(with("let y_at = 16*y_core", "let y_at = 17*y_core"))
            .starts_with("bounds: B[0:16, 17:33] is moved, and the tensor has [0:64, 0:32] @ 2 on core 1\n"));
  CHECK(told(with("if any(3 - ko)", "if any(4 - ko)"))
            .starts_with("bounds: B[64:80, 0:16] is moved, and the tensor has [0:64, 0:32] @ 9 on core 0 ko=3\n"));
  // A box that is larger than it is declared to be.
  CHECK(told(with("get A[0:1, 0:64] -> AA", "get A[0:1, 0:y_at + 64 <= 64] -> AA"))
            .starts_with("bounds: a box is 80 elements long, and at most 64 is declared @ 1 on core 1\n"));
  // Parts that overlap leave something out elsewhere.
  CHECK(told(with("let y_at = 16*y_core", "let y_at = 8*y_core")) ==
        "overlap: C[0, 8] is written by core 0 too @ 11 on core 1 & 11 on core 0\n"
        "incomplete: no core writes 8 of 32 elements of C, the first of them [0, 24]\n");
  CHECK(told(with("   11  put CC -> C[0:1, y_at:y_at + 16]\n   12  wait 11\n", "")) ==
        "incomplete: no core writes 32 of 32 elements of C, the first of them [0, 0]\n");
  CHECK(told(with("    4  fill CC with 0\n", "")) ==
        "uninitialised: C[0:1, 0:16] is read from CC, where nothing has put it @ 10 on core 0 ko=0\n");
  // A sum that lacks terms; one that begins anew with every tile.
  CHECK(told(with("for ko < 4 of k", "for ko < 3 of k")) ==
        "sum: C[0:1, 0:16] is stored with 48 terms of a sum of 64 @ 11 on core 0 & 10 on core 0 ko=2\n"
        "wait: nothing waits for this transfer before the kernel ends @ 9 on core 0 ko=2\n");
  CHECK(told(with("   10    compute", "   20    fill CC with 0\n   10    compute")) ==
        "sum: C[0:1, 0:16] is stored with 16 terms of a sum of 64 @ 11 on core 0 & 10 on core 0 ko=3\n");
  // Cores of a team that load different boxes together, or do not all come.
  CHECK(told(with("get A[0:1, 0:64] -> AA\n", "get A[0:1, 32*y_core:32*y_core + 32] -> AA of mesh\n")) ==
        "uninitialised: A[0:1, 32:48] is read from AA, where nothing has put it @ 10 on core 0 ko=2\n"
        "message: core 0 takes part with another box @ 1 on core 1 & 1 on core 0\n");
  CHECK(told(with("    3  wait 1\n", "    3  wait 1\n   20  if any(y_core) > 0 {\n   21    barrier\n       }\n")) ==
        "message: core 0 does not come to this @ 21 on core 1\n");
}

TEST_CASE("cores that the target has not, or has elsewhere, and numbers that nothing has set, are faults") {
  Target one = two_cores();
  one.name = "small";
  one.cores.count = 1;
  CHECK(told(product, one) == "capacity: the nest runs on 2 cores, small has 1\n");
  CHECK(told(with("mesh 1 rows 2 columns", "mesh 2 rows 1 columns")) ==
        "capacity: the nest's cores are in 2 rows of 1, those of pair in 1 of 2\n");
  CHECK(told(with("  core y_core < 2 of y stride 1\n  mesh 1 rows 2 columns",
                  "  core y_core < 1 of y stride 1\n  mesh 1 rows 2 columns"))
            .starts_with("capacity: the nest runs on 1 cores, which are not 1 rows of 2\n"));
  CHECK(told(with("  mesh 1 rows 2 columns\n", "")) == "");
  const std::string of_row = with("get A[0:1, 0:64] -> AA\n", "get A[0:1, 0:64] -> AA of row\n");
  CHECK(told(of_row) == "");
  std::string nowhere = of_row;
  nowhere.replace(nowhere.find("  mesh 1 rows 2 columns\n"), 24, "");
  CHECK(told(nowhere) ==
        "capacity: cores load together, and the nest does not say in which rows and columns they are\n");
  Target rows = two_cores();
  rows.cores.mesh_rows = 2;
  CHECK(told(product, rows) == "");
  CHECK(told(with("-> AA\n", "-> AA of column\n"), rows) ==
        "capacity: columns load together in 1 rows of 2, and the others are sent what they never take\n");
  // Of a core's coordinates, of a loop that is over, of what is set only afterwards.
  CHECK(told(with("  core y_core < 2 of y stride 1\n  mesh 1 rows 2 columns\n", ""))
            .starts_with("uninitialised: y_core has no value here @ 0 on core 0\n"));
  CHECK(told(with("   12  wait 11\n", "   12  wait 11\n   13  if any(3 - ko) > 0 {\n   14    barrier\n       }\n")) ==
        "uninitialised: ko has no value here @ 13 on core 0\n");
  CHECK(told(with("fill CC with 0\n", "if any(rc + 1) > 0 {\n   20    fill CC with 0\n       }\n   21  let rc = 0\n"))
            .starts_with("uninitialised: rc has no value here @ 4 on core 0\n"));
}

TEST_CASE("a sum is whole when it has every term once, whatever the order and the boxes in which they come") {
  const LoopNest nest = parsed(product);
  Compute compute;
  visit_statements(nest.body, [&](const Stmt& s) {
    if (const auto* found = std::get_if<Compute>(&s.node)) compute = *found;
  });
  const auto sum_of = [&](const std::vector<std::pair<std::int64_t, std::int64_t>>& parts_of_k) {
    std::optional<SumTerms> sum = SumTerms{};
    for (const auto& [from, to] : parts_of_k) sum = with_terms(nest, sum, compute, {{0, 0, from}, {1, 16, to}});
    return what_lacks(nest, *sum, false).value_or("nothing");
  };
  CHECK(sum_of({{0, 64}}) == "nothing");
  CHECK(sum_of({{40, 64}, {0, 1}, {1, 40}}) == "nothing");
  CHECK(sum_of({}) == "before its sum has any term");
  CHECK(sum_of({{0, 63}}) == "with 63 terms of a sum of 64");
  CHECK(sum_of({{0, 64}, {5, 6}}) == "with 65 terms of a sum of 64");
  CHECK(sum_of({{0, 32}, {31, 63}}) == "with some of the 64 terms twice and some not");
  CHECK(what_lacks(nest, with_terms(nest, std::nullopt, compute, {{0, 0, 0}, {1, 16, 16}}), false) ==
        "with 80 terms of a sum of 64");
}

TEST_CASE("a nest that goes on for ever, or writes more than there is room to follow, is given up in time") {
  const NestCheck endless = check_nest(parsed(with("for ko < 4 of k", "for ko < 1000000000000 of k")), {}, 100'000);
  CHECK_FALSE(endless.complete);
  CHECK_FALSE(endless.faults.empty());  // loads of tiles that there are not
  // Puts that nothing waits for do not pile up.
  const NestCheck piled =
      check_nest(parsed(with("   11  put CC -> C[0:1, y_at:y_at + 16]\n   12  wait 11\n",
                             "   11  for rc < 1000000 of k {\n   12    put CC -> C[0:1, y_at:y_at + 16]\n       }\n")),
                 two_cores(), 1'000'000);
  CHECK_FALSE(piled.complete);
  REQUIRE(piled.faults.size() == 1);
  CHECK(piled.faults.front().what == "256 transfers of this statement are under way, for which nothing has waited");
  CHECK(piled.faults.front().at->statement == StatementId(12));
  // One that was started before them is awaited as it should be.
  CHECK(
      told(with("   11  put CC -> C[0:1, y_at:y_at + 16]\n   12  wait 11\n",
                "   20  get A[0:1, 0:64] -> AA\n   11  for rc < 300 of k {\n   12    put CC -> C[0:1, y_at:y_at + 16]\n"
                "       }\n   21  wait 20\n")) ==
      "wait: 255 transfers of this statement are under way, for which nothing has waited @ 12 on core 0 rc=0\n");
  std::string large = product;
  for (std::size_t at = large.find("C f32[1,32]"); at != std::string::npos; at = large.find("C f32[1,32]"))
    large.replace(at, 11, "C f32[99999,99999]");
  large.replace(large.find("strides [32, 1] written"), 15, "strides [99999, 1]");
  CHECK_FALSE(check_nest(parsed(large), {}).complete);
}

TEST_CASE("what many cores load together counts once") {
  const NestCheck check =
      check_nest(parsed(with("get A[0:1, 0:64] -> AA\n", "get A[0:1, 0:64] -> AA of mesh\n")), two_cores());
  CHECK(check.faults.empty());
  CHECK(check.transfers == 1 + 2 * (4 + 1));
}

namespace {

bool equal(const Tensor& a, const Tensor& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

}  // namespace

TEST_CASE("good plans have no fault, and a change that makes one is found") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261123);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 400);
  int good = 0, mutants = 0, refused = 0, accepted = 0, only_verify = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto sample = fixtures::drawn_sample(seed + round);
    if (!sample) continue;
    const std::string text = to_text(sample->nest);
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1\n" << text);
    const NestCheck plain = check_nest(sample->nest, sample->target);
    REQUIRE(plain.complete);
    for (const Fault& fault : plain.faults) FAIL_CHECK(name_of(fault.family) << ": " << fault.what);
    ++good;
    const auto expected = interpret(sample->nest, sample->inputs);
    std::mt19937 random(static_cast<unsigned>(seed + round));
    for (int change = 0; change < 4; ++change) {
      const bool of_schedule = change % 2 == 1;
      const std::string edited =
          of_schedule ? fixtures::with_edited_schedule(text, random) : fixtures::changed(text, random);
      Diagnostics diagnostics;
      const auto nest =
          edited.empty() ? Result<LoopNest>(Failed{}) : parse_loop_nest(edited, diagnostics, sample->constants);
      if (!nest) continue;
      ++mutants;
      INFO(edited);
      const NestCheck check = check_nest(*nest, sample->target);
      auto broken = verify(*nest, sample->target);
      if (!broken) broken = verify_results(*nest, sample->target);
      if (!check.faults.empty()) {
        ++refused;
        INFO(name_of(check.faults.front().family) << ": " << check.faults.front().what);
        REQUIRE(broken.has_value());  // what verify shows to be sound has no fault
        continue;
      }
      ++accepted;
      only_verify += broken ? 1 : 0;
      if (check.not_looked_at > 0) continue;
      INFO("verify says: " << broken.value_or("sound"));
      const auto actual = interpret(*nest, sample->inputs);
      for (const auto& [tensor, value] : expected) {
        if (sample->nest.stages.tensors[tensor].role == TensorRole::output) REQUIRE(equal(actual.at(tensor), value));
      }
    }
  }
  INFO(good << " good plans; " << mutants << " mutants, of them " << refused << " with faults, " << accepted
            << " without, of these refused by verify " << only_verify);
  if (rounds >= 400) {
    CHECK(good > 200);
    CHECK(mutants >= 500);
    CHECK(refused > mutants / 2);
  }
}

}  // namespace stowage::check_nest_test
