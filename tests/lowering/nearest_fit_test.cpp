// SPDX-License-Identifier: Apache-2.0
// What a refused schedule is told: the nearest that can be planned, of every part by itself.
#include <iostream>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/program/nearest_fit.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/swtvm.h"
#include "tests/lowering/operator_draw.h"
#include "tests/lowering/slots_draw.h"
#include "tests/random_runs.h"

namespace stowage::nearest_fit_test {
namespace {

using fixtures::matmul_stages;
using test::number_from;

Target machine(int cores) {
  Target target;
  target.cores.count = cores;
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e10}};
  return target;
}

/// What it would take, of a matrix product.
std::string flip_of(const Schedule& fixed, int cores, const Planner& planner = SwtvmPlanner()) {
  const Planned planned = plan_group("matmul", matmul_stages(64, 1024, 1024), fixed, planner, machine(cores), {});
  const auto* const refused = std::get_if<Decision>(&planned);
  return refused == nullptr ? "planned" : refused->flip;
}

}  // namespace

TEST_CASE("buffers that exceed the LDM are told how large each may be, and how much LDM is missing") {
  Schedule fixed;
  fixed.buffer = {{"y", 1024}, {"k", 1024}};
  const std::string expected = "for instance a buffer of 14 of k, or a buffer of 14 of y, or 4040.06 KiB of LDM more";
  CHECK(flip_of(fixed, 1) == expected);
  CHECK(flip_of(fixed, 1, SearchedPlanner()) == expected);
  fixed.buffer["k"] = 14;
  CHECK(flip_of(fixed, 1) == "planned");
  fixed.buffer["k"] = 15;
  CHECK(flip_of(fixed, 1) != "planned");
}

TEST_CASE("slots that exceed the LDM are told that one of each tensor fits, and what stays that it need not") {
  Schedule fixed;
  fixed.buffer = {{"x", 1}, {"y", 1024}, {"k", 8}};
  fixed.slots = {{"B", 2}};
  CHECK(flip_of(fixed, 1).starts_with("for instance a buffer of 7 of k, or a buffer of "));
  CHECK(flip_of(fixed, 1).find(", or one slot of each tensor, or ") != std::string::npos);
  fixed.slots.clear();
  CHECK(flip_of(fixed, 1) == "planned");
  fixed.resident = {{"B", {"k"}}};
  CHECK(flip_of(fixed, 1).find(", or B loaded tile by tile, or ") != std::string::npos);
}

TEST_CASE("grids, sizes and slots that cannot be are told the nearest that can") {
  Schedule fixed;
  fixed.parallel = {{{"x", 8}, {"y", 16}}};
  CHECK(flip_of(fixed, 64) == "at most 4 parts of x, or at most 8 parts of y");
  fixed.parallel = {{{"x", 4}, {"y", 16}}};
  CHECK(flip_of(fixed, 64) == "planned");
  Schedule sizes;
  sizes.buffer = {{"y", 2000}};
  CHECK(flip_of(sizes, 1).empty());  // the reason has the range
  Schedule slots;
  slots.slots = {{"B", 5}};
  CHECK(flip_of(slots, 1) == "4 slots of B");
  Schedule idle;  // all of it is moved once
  idle.buffer = {{"x", 8}, {"y", 8}, {"k", 8}};
  idle.slots = {{"A", 2}, {"B", 2}, {"C", 2}};
  const Planned small = plan_group("small", matmul_stages(8, 8, 8), idle, SwtvmPlanner(), machine(1), {});
  REQUIRE(std::holds_alternative<Decision>(small));
  CHECK(std::get<Decision>(small).flip == "one slot of A, B, C");
  Schedule split;
  split.split = SplitReductions{{"k", 8}};
  CHECK(flip_of(split, 64) == "split_reductions = {}");
}

TEST_CASE("random schedules that exceed the LDM: what is told fits, and no larger buffer does") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20261128);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 400);
  std::size_t refused = 0, told = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    fixtures::OperatorDraw draw(seed + round);
    const auto drawn = draw.draw();
    if (!drawn) continue;
    Target target = draw.machine();
    target.ldm.bytes = draw.coin() ? 512 : 1024;
    target.dma.alignment = draw.coin() ? 4 : 1;
    const auto planned = [&](const Schedule& fixed) {
      return plan_group("op", drawn->stages, fixed, SwtvmPlanner(), target, {});
    };
    const Planned free = planned({});
    if (!std::holds_alternative<Plan>(free)) continue;
    const GroupModel model = build_group_model(drawn->stages, target);
    Schedule fixed = fixtures::random_slots(draw, model, std::get<Plan>(free).schedule);
    const IteratorSizes ranges = core_ranges(model, *fixed.parallel);
    for (const IteratorId i : ranges.ids()) {
      if (draw.between(0, 3) > 0) fixed.buffer[model.iterators[i].name] = draw.between(1, ranges[i]);
    }
    const Planned wanted = planned(fixed);
    const auto* const why = std::get_if<Decision>(&wanted);
    if (why == nullptr || why->rule != "ldm-capacity") continue;
    ++refused;
    for (const NearestFit& fit : nearest_that_fit(drawn->stages, fixed, target)) {
      INFO(fit.text);
      ++told;
      CHECK(why->flip.find(fit.text) != std::string::npos);
      const std::int64_t here = std::exchange(target.ldm.bytes, fit.ldm_bytes);
      CHECK(std::holds_alternative<Plan>(planned(fit.schedule)));
      target.ldm.bytes = here;
      for (const auto& [iterator, size] : fit.schedule.buffer) {
        if (size == fixed.buffer.at(iterator)) continue;
        Schedule larger = fit.schedule;
        ++larger.buffer.at(iterator);
        CHECK(std::holds_alternative<Decision>(planned(larger)));
      }
    }
  }
  std::cout << refused << " refused, " << told << " changes told\n";
  if (rounds < 400) return;
  CHECK(refused > 20);
  CHECK(told > refused / 2);
}

}  // namespace stowage::nearest_fit_test
