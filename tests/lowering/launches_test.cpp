// SPDX-License-Identifier: Apache-2.0
// How kernels begin: what that costs, who chooses it, and which kernels then run in one spawn.
#include <catch2/catch.hpp>

#include "core/operators.h"
#include "fusion/facts/views.h"
#include "fusion/strategies/strategy.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/program/launches.h"
#include "lowering/program/planners.h"
#include "lowering/time/cost_table.h"
#include "tests/fusion/net.h"

namespace stowage::launches_test {
namespace {

Target machine(const std::vector<std::string>& settings = {}) {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", settings, diagnostics);
  REQUIRE(target);
  return *target;
}

/// Three operators, one behind the other.
FusedGraph chain() {
  testing::Net net("chain");
  const TensorId x = net.input("x", {64, 64});
  const TensorId a = net.op("Relu", "a", {x});
  const TensorId b = net.op("MatMul", "b", {a, net.constant("w", {64, 64})});
  const Graph graph = net.done({net.op("Tanh", "c", {b})});
  return find_strategy("none")->fuse(place_tensors(graph, {}, 4), {}, nullptr, {});
}

Result<Program> planned(const std::string& planner, const std::map<std::string, Schedule>& schedules,
                        const Target& target, Diagnostics& diagnostics) {
  return plan_program(chain(), schedules, *find_planner(planner), target, {}, diagnostics);
}

Schedule by(LaunchedBy launch) {
  Schedule schedule;
  schedule.launch = launch;
  return schedule;
}

std::vector<LaunchedBy> launches_of(const Program& program) {
  std::vector<LaunchedBy> launches;
  for (const ProgramStep& step : program.steps) {
    CHECK(step.plan()->schedule.launch == step.plan()->nest.launch);
    launches.push_back(step.plan()->nest.launch);
  }
  return launches;
}

using enum LaunchedBy;
using Launches = std::vector<LaunchedBy>;

}  // namespace

TEST_CASE("planner searched spawns the first kernel only, where a barrier takes less than a spawn, and swtvm each") {
  Diagnostics diagnostics;
  const auto launches = [&](const std::string& planner, const std::vector<std::string>& settings) {
    const auto program = planned(planner, {}, machine(settings), diagnostics);
    REQUIRE(program);
    return launches_of(*program);
  };
  CHECK(launches("searched", {}) == Launches{spawn, barrier, barrier});
  CHECK(launches("swtvm", {}) == Launches{spawn, spawn, spawn});
  // Nothing is known of barriers, or a spawn takes no longer.
  CHECK(launches("searched", {"cores.barrier_cycles=0"}) == Launches{spawn, spawn, spawn});
  CHECK(launches("searched", {"cores.launch_seconds=0"}) == Launches{spawn, spawn, spawn});
}

TEST_CASE("a kernel behind a barrier takes that instead of a spawn, and nothing else changes") {
  const Target target = machine();
  Diagnostics diagnostics;
  const auto apart = planned("searched", {{"b", by(spawn)}, {"c", by(spawn)}}, target, diagnostics);
  const auto together = planned("searched", {}, target, diagnostics);
  REQUIRE(apart);
  REQUIRE(together);
  CHECK(launches_of(*apart) == Launches{spawn, spawn, spawn});
  const std::int64_t less = 29001 - 130;  // 20 us at 1.45 GHz, rounded up, and cores.barrier_cycles
  for (const StepId s : {StepId(1), StepId(2)}) {
    CHECK(apart->steps[s].plan()->time.cycles - together->steps[s].plan()->time.cycles == less);
    CHECK(to_text(apart->steps[s].plan()->nest.stages) == to_text(together->steps[s].plan()->nest.stages));
  }
  CHECK(together->first_launch_cycles == less);
  CHECK(totals_of(*apart).spawns == 3);
  CHECK(totals_of(*together).spawns == 1);
  CHECK(totals_of(*together).kernels == 3);
  // What is lost to launches is beyond one spawn, which the limit has too.
  CHECK(totals_of(*apart).distance.of(LostTo::launch) == 2 * 29001);
  CHECK(totals_of(*together).distance.of(LostTo::launch) == 2 * 130);
  CHECK(formula_text(together->steps[StepId(1)].plan()->time.terms.front().cost) ==
        "a barrier of all cores: 130 cycles");
}

TEST_CASE("kernels run in one spawn until the next one that is spawned") {
  Diagnostics diagnostics;
  const auto spawns = [&](const std::map<std::string, Schedule>& schedules) {
    const auto program = planned("searched", schedules, machine(), diagnostics);
    REQUIRE(program);
    return spawns_of(program->steps);
  };
  using Spawns = std::vector<std::vector<StepId>>;
  const StepId first(0), second(1), third(2);
  CHECK(spawns({}) == Spawns{{first, second, third}});
  CHECK(spawns({{"b", by(spawn)}}) == Spawns{{first}, {second, third}});
  CHECK(spawns({{"c", by(spawn)}}) == Spawns{{first, second}, {third}});
}

TEST_CASE("the first kernel of a program cannot begin behind a barrier") {
  Diagnostics diagnostics;
  CHECK_FALSE(planned("searched", {{"a", by(barrier)}}, machine(), diagnostics));
  const std::string said = format_diagnostics(diagnostics);
  INFO(said);
  CHECK(said.find("its kernel shall begin behind a barrier, and is the first one of the program") != std::string::npos);
  CHECK(said.find("[nothing-before]") != std::string::npos);
}

TEST_CASE("how a kernel begins is part of its nest's text") {
  Diagnostics diagnostics;
  const auto program = planned("searched", {}, machine(), diagnostics);
  REQUIRE(program);
  const LoopNest& nest = program->steps[StepId(2)].plan()->nest;
  const std::string text = to_text(nest);
  CHECK(text.find("\n  launch barrier\n") != std::string::npos);
  CHECK(to_text(program->steps[StepId(0)].plan()->nest).find("launch") == std::string::npos);
  const auto read = parse_loop_nest(text, diagnostics);
  REQUIRE(read);
  CHECK(read->launch == barrier);
  CHECK(to_text(*read) == text);
  std::string wrong = text;
  wrong.replace(wrong.find("launch barrier"), 14, "launch sometime");
  CHECK_FALSE(parse_loop_nest(wrong, diagnostics));
}

}  // namespace stowage::launches_test
