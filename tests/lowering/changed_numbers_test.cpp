// SPDX-License-Identifier: Apache-2.0
// Nests with other numbers than they were made with, above all those of their cores: whatever they are, verify and the
// checker say what they think of them, and what verify takes is counted as a walk counts it, timed and simulated.
// STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it.
#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <random>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "lowering/check/check_nest.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/simulate/simulate.h"
#include "lowering/time/time_model.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "tests/lowering/changed_nest.h"
#include "tests/lowering/plain_counts.h"
#include "tests/lowering/program_draw.h"
#include "tests/random_runs.h"

namespace stowage::changed_numbers_test {
namespace {

using fixtures::lines_like;
using fixtures::lines_of;
using fixtures::text_of;

constexpr std::int64_t most_executions = 100'000;

/// Places of the numbers of a line that are part of no name.
std::vector<std::pair<std::size_t, std::size_t>> numbers_of(const std::string& line) {
  const std::regex number("[0-9]+");
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::sregex_iterator n(line.begin(), line.end(), number), end; n != end; ++n) {
    const auto at = static_cast<std::size_t>(n->position());
    const bool of_name = at > 0 && (std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0 || line[at - 1] == '_');
    if (!of_name) found.emplace_back(at, static_cast<std::size_t>(n->length()));
  }
  return found;
}

class Changes {
 public:
  explicit Changes(std::mt19937& random) : random_(random) {}

  /// With one to three numbers changed, lines of cores or of the mesh left out, added or exchanged.
  std::string changed(const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    const std::vector<std::size_t> cores = lines_like(lines, "^  (core|mesh) .*");
    const std::size_t changes = 1 + draw(3);
    for (std::size_t change = 0; change < changes; ++change) {
      if (!cores.empty() && draw(2) == 0) {
        change_grid(lines, cores);
      } else {
        const std::vector<std::size_t> all = lines_like(lines, "^  (core|mesh|memory|ldm|buffer) .*|^ *[0-9]+  .*");
        change_number(lines[all[draw(all.size())]]);
      }
    }
    lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
    return text_of(lines);
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }

  void change_grid(std::vector<std::string>& lines, const std::vector<std::size_t>& cores) {
    std::string& line = lines[cores[draw(cores.size())]];
    std::string& other = lines[cores[draw(cores.size())]];
    switch (draw(8)) {
      case 0: line.clear(); break;
      case 1: line += fmt::format("\n  mesh {} rows {} columns", 1 + draw(8), 1 + draw(8)); break;
      case 2: exchange(line, other); break;
      case 3:  // then coordinates are remainders of the number: different ones where parts have no common divisor
        for (const std::size_t at : cores)
          lines[at] = std::regex_replace(lines[at], std::regex("stride .*"), "stride 1");
        break;
      default: change_number(line);
    }
  }

  /// The last number of either: strides of cores, say.
  void exchange(std::string& line, std::string& other) {
    const auto a = numbers_of(line);
    const auto b = numbers_of(other);
    if (a.empty() || b.empty() || &line == &other) return;
    const std::string of_line = line.substr(a.back().first, a.back().second);
    line.replace(a.back().first, a.back().second, other.substr(b.back().first, b.back().second));
    other.replace(b.back().first, b.back().second, of_line);
  }

  void change_number(std::string& line) {
    static constexpr std::array<std::int64_t, 16> others = {0,  1,  2,  3,   4,       5,       6,          8,
                                                            16, 32, 64, 100, 1 << 20, 4194303, 2147483648, 1LL << 40};
    const auto numbers = numbers_of(line);
    if (numbers.empty()) return;
    const auto [at, length] = numbers[draw(numbers.size())];
    const std::int64_t before = std::stoll(line.substr(at, std::min<std::size_t>(length, 18)));
    const std::int64_t beside = std::max<std::int64_t>(0, before + (draw(2) == 0 ? 1 : -1));
    line.replace(at, length, std::to_string(draw(2) == 0 ? beside : others[draw(others.size())]));
  }

  std::mt19937& random_;
};

struct Seen {
  int refused = 0, sound = 0, counted = 0, simulated = 0, with_other_cores = 0;
};

/// Whatever the nest is, nothing throws.
void check_changed(const LoopNest& nest, const LoopNest& before, const Target& target, Seen& seen) {
  const auto broken = verify(nest, target);
  const NestCheck check = check_nest(nest, target, most_executions);
  if (broken) {
    ++seen.refused;
    return;
  }
  ++seen.sound;
  if (!verify_results(nest, target)) {  // else a sum may lack terms
    for (const Fault& fault : check.faults) FAIL_CHECK(name_of(fault.family) << ": " << fault.what);
  }
  const NestCounts counts = predict_counts(nest);
  if (check.complete) {
    ++seen.counted;
    test::compare(counts, test::PlainWalk(nest).run());
  }
  const auto is_same = [](const CoreAxis& a, const CoreAxis& b) { return a.parts == b.parts && a.stride == b.stride; };
  seen.with_other_cores += std::equal(nest.core_grid.begin(), nest.core_grid.end(), before.core_grid.begin(),
                                      before.core_grid.end(), is_same)
                               ? 0
                               : 1;
  REQUIRE(estimate_time(nest, counts, target).cycles > 0);
  const Simulated result = simulate(nest, target);
  const auto* simulation = std::get_if<Simulation>(&result);
  if (simulation == nullptr) return;  // too long, which it says
  ++seen.simulated;
  REQUIRE(simulation->dma.transfers == dma_totals(counts).transfers);
  REQUIRE(simulation->dma.bytes == dma_totals(counts).bytes);
}

}  // namespace

TEST_CASE("nests with other numbers are refused, or counted, timed and simulated, never more") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261128);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 150);
  std::cout << "STOWAGE_SEED=" << seed << " STOWAGE_ROUNDS=" << rounds << "\n";
  Seen seen;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    fixtures::OperatorDraw draw(seed + round);
    const Target target = fixtures::drawn_target(draw, false);
    const auto program = fixtures::drawn_program(draw, target, /*weights=*/false);
    if (!program) continue;
    const std::string text = to_text(program->plan.nest);
    std::map<std::string, Tensor> constants;
    for (const StageTensor& tensor : program->plan.nest.stages.tensors) {
      if (tensor.value) constants.emplace(tensor.name, *tensor.value);
    }
    std::mt19937 random(static_cast<unsigned>(seed + round));
    Changes changes(random);
    for (int change = 0; change < 20; ++change) {
      const std::string changed = changes.changed(text);
      INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1\n" << changed);
      Diagnostics diagnostics;
      const auto nest = parse_loop_nest(changed, diagnostics, constants);
      REQUIRE(static_cast<bool>(nest) != diagnostics.has_errors());
      if (nest) REQUIRE_NOTHROW(check_changed(*nest, program->plan.nest, target, seen));
    }
  }
  INFO(seen.refused << " refused, " << seen.sound << " sound, of them " << seen.with_other_cores
                    << " with other cores, " << seen.counted << " counted by a walk, " << seen.simulated
                    << " simulated");
  if (rounds > 150)
    WARN(seen.refused << " refused, " << seen.sound << " sound, of them " << seen.with_other_cores
                      << " with other cores, " << seen.counted << " counted by a walk, " << seen.simulated
                      << " simulated");
  if (rounds < 150) return;
  CHECK(seen.refused > static_cast<int>(rounds));
  CHECK(seen.counted > static_cast<int>(rounds));
  CHECK(seen.with_other_cores > static_cast<int>(rounds) / 15);
  CHECK(seen.simulated > static_cast<int>(rounds));
}

}  // namespace stowage::changed_numbers_test
