// SPDX-License-Identifier: Apache-2.0
// What the management core computes: which operators, in which loops, at which cost, and what follows for the kernels
// around it.
#include <algorithm>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/operators.h"
#include "fusion/facts/views.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/launches.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "tests/fusion/net.h"

namespace stowage::management_plan_test {
namespace {

Target machine(std::int64_t ldm_bytes, bool with_management_core = true) {
  Diagnostics diagnostics;
  auto target = load_target("sw26010", {fmt::format("ldm.bytes={}", ldm_bytes)}, diagnostics);
  REQUIRE(target);
  if (!with_management_core) target->management_core.reset();
  return *target;
}

/// Between two kernels, an operator that needs a whole row of 6 000 bytes.
FusedGraph mirror(const std::string& strategy = "none") {
  testing::Net net("mirror");
  const TensorId x = net.input("x", {3, 1500});
  const TensorId a = net.op("Relu", "before", {x});
  const TensorId b = net.op("Pad", "mirrored", {a},
                            {{"mode", std::string("reflect")}, {"pads", std::vector<std::int64_t>{0, 700, 0, 700}}});
  const TensorId c = net.op("Tanh", "after", {b});
  const Graph graph = net.done({net.op("Relu", "last", {c})});
  return find_strategy(strategy)->fuse(place_tensors(graph, {}, 4), {}, nullptr, {});
}

Result<Program> planned(const Target& target, Diagnostics& diagnostics,
                        const std::map<std::string, Schedule>& schedules = {}, TraceSink trace = {}) {
  return plan_program(mirror(), schedules, *find_planner("searched"), target, trace, diagnostics);
}

StageList stages_of(const Graph& graph) {
  const FusedGraph fused = find_strategy("none")->fuse(place_tensors(graph, {}, 4), {}, nullptr, {});
  return group_stages(fused.graph, fused.groups.front());
}

StageList transposition(std::int64_t rows, std::int64_t columns) {
  testing::Net net("turned");
  const TensorId x = net.input("x", {rows, columns});
  return stages_of(net.done({net.op("Transpose", "turned", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}})}));
}

}  // namespace

TEST_CASE("the management core computes the operator that no plan of the LDM holds, and only that") {
  Diagnostics diagnostics;
  Trace trace;
  const auto program = planned(machine(8192), diagnostics, {}, TraceSink(&trace));
  REQUIRE(program);
  REQUIRE(program->steps.size() == 4);
  for (const int s : {0, 2, 3}) CHECK(program->steps[StepId(s)].on_management_core() == nullptr);
  const ManagementPlan* const plan = program->steps[StepId(1)].on_management_core();
  REQUIRE(plan != nullptr);
  CHECK(program->steps[StepId(1)].step_plan() == plan);
  CHECK(program->steps[StepId(1)].plan() == nullptr);
  CHECK(plan->refused().rule == "ldm-capacity");
  CHECK(plan->text() ==
        "input before_out f32[3,1500]\n"
        "output mirrored_out f32[3,2900]\n"
        "mirrored: mirrored_out[i0<3, i1<2900] = before_out[i0, pad1[i1]]\n");
  CHECK(plan->traffic() == DmaTotals{});
  CHECK(plan->intermediate_bytes() == 0);

  // One warning that names it, one record that says why.
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries()[0].code == "management-core");
  CHECK(std::count_if(trace.records.begin(), trace.records.end(), [](const TraceRecord& record) {
          return std::holds_alternative<GivenToManagementCore>(record.what) && record.subject == "mirrored";
        }) == 1);

  const ProgramTotals totals = totals_of(*program);
  CHECK(totals.kernels == 3);
  CHECK(totals.of(ManagementStep::kind).steps == 1);
  CHECK(totals.of(ManagementStep::kind).cycles == plan->cycles());
  CHECK(totals.of(KernelLaunch::kind).steps == totals.kernels);
  CHECK(totals.of(KernelLaunch::kind).cycles == totals.cycles - plan->cycles());
  CHECK(totals.of(ViewStep::kind).steps == 0);
  std::int64_t sum = 0;
  for (const ProgramStep& step : program->steps) sum += step.step_plan()->cycles();
  CHECK(totals.cycles == sum);
}

TEST_CASE("a spawn ends where the management core works") {
  Diagnostics diagnostics;
  const auto program = planned(machine(8192), diagnostics);
  REQUIRE(program);
  CHECK(first_kernels(program->steps) == std::vector{StepId(0), StepId(2)});
  CHECK(program->steps[StepId(2)].plan()->nest.launch == LaunchedBy::spawn);
  CHECK(program->steps[StepId(3)].plan()->nest.launch == LaunchedBy::barrier);
  CHECK(spawns_of(program->steps) == std::vector<std::vector<StepId>>{{StepId(0)}, {StepId(2), StepId(3)}});

  Schedule behind;
  behind.launch = LaunchedBy::barrier;
  Diagnostics refused;
  CHECK_FALSE(planned(machine(8192), refused, {{"after", behind}}));
  CHECK(format_diagnostics(refused).find("is the first one after work of the management core") != std::string::npos);
}

TEST_CASE("what fits, what is fixed and what a machine has no core for goes as before") {
  Diagnostics fits;
  const auto program = planned(machine(65536), fits);
  REQUIRE(program);
  for (const ProgramStep& step : program->steps) CHECK(step.plan() != nullptr);

  Diagnostics without;
  CHECK_FALSE(planned(machine(8192, false), without));
  CHECK(format_diagnostics(without).find("[ldm-capacity]") != std::string::npos);

  Schedule fixed;
  fixed.buffer = {{"i0", 1}};
  Diagnostics by_hand;
  CHECK_FALSE(planned(machine(8192), by_hand, {{"mirrored", fixed}}));
}

TEST_CASE("transfers that the DMA cannot carry out stay an error where a person fixed something of the plan") {
  testing::Net net("rows");
  const TensorId x = net.input("x", {37, 50});
  const Graph graph = net.done({net.op("Softmax", "shares", {x}, {{"axis", std::int64_t{1}}})});
  const FusedGraph fused = find_strategy("none")->fuse(place_tensors(graph, {}, 4), {}, nullptr, {});
  Diagnostics none;
  const auto wide = load_target(
      "sw26010",
      {"dma.alignment=512", "ldm.alignment=512", "main_memory.line_bytes=512", "ldm.bytes=4096", "ldm.reserved=1024"},
      none);
  REQUIRE(wide);
  REQUIRE(wide->management_core);
  for (const char* planner : {"swtvm", "searched"}) {
    INFO(planner);
    Diagnostics free;
    const auto given_away = plan_program(fused, {}, *find_planner(planner), *wide, {}, free);
    REQUIRE(given_away);
    REQUIRE(given_away->steps[StepId(0)].on_management_core() != nullptr);
    CHECK(given_away->steps[StepId(0)].on_management_core()->refused().rule == "dma-alignment");

    Schedule fixed;
    fixed.launch = LaunchedBy::spawn;
    Diagnostics by_hand;
    CHECK_FALSE(plan_program(fused, {{"shares", fixed}}, *find_planner(planner), *wide, {}, by_hand));
    const std::string said = format_diagnostics(by_hand);
    INFO(said);
    CHECK(said.find("error: fused operator shares: ") != std::string::npos);
    CHECK(said.find("sw26010 moves multiples of 512 bytes ('dma.alignment') [dma-alignment]") != std::string::npos);
    CHECK(said.find("help: choose a target with a smaller dma.alignment") != std::string::npos);
    CHECK(said.find("management-core") == std::string::npos);
  }
}

TEST_CASE("fusion pays for it what the step takes, and never fuses with it") {
  const Target target = machine(8192);
  const PlannedGroupCost cost(*find_planner("searched"), target);
  const FusedGraph fused = mirror();
  const GroupCost::Answer alone = cost.cost(fused.graph, fused.groups[1]);
  REQUIRE(alone.decision);
  Diagnostics diagnostics;
  const auto program = planned(target, diagnostics);
  REQUIRE(program);
  CHECK(alone.cycles == program->steps[StepId(1)].on_management_core()->cycles());
  FusedOperator both = fused.groups[1];
  both.operators.push_back(fused.groups[2].operators.front());
  both.roles.emplace_back("epilogue");
  both.results = fused.groups[2].results;
  CHECK_FALSE(cost.cost(fused.graph, both).decision);
}

TEST_CASE("the cost is that of operations, functions and lines, by the target's rates") {
  Target target = machine(8192);
  target.management_core->operations_per_cycle = Rate(0.5);
  target.management_core->function_cycles = 40;
  target.management_core->bytes_per_second = target.clock_hz;  // a byte a cycle
  const StageList turned = transposition(64, 32);
  const ManagementPlan plan(turned, Decision::refuse("ldm-capacity", "too large"), target);
  REQUIRE(plan.terms().size() == 3);
  CHECK(plan.terms()[0].cycles == 2 * 64 * 32);      // a point without arithmetic counts as one operation
  CHECK(plan.terms()[1].cycles == 0);                // no functions
  CHECK(plan.terms()[2].cycles == 3 * 64 * 32 * 4);  // read once, fetched and written once
  CHECK(plan.cycles() == plan.terms()[0].cycles + plan.terms()[2].cycles);

  testing::Net net("curve");
  const ManagementPlan curve(stages_of(net.done({net.op("Tanh", "curve", {net.input("x", {100})})})),
                             Decision::refuse("ldm-capacity", "too large"), target);
  CHECK(curve.terms()[1].cycles == 100 * 40);
}

TEST_CASE("what a cache cannot keep is fetched again, line by line") {
  const StageList turned = transposition(1024, 512);
  const Stage& stage = *turned.stages.begin();
  const double all = 1024 * 512 * 4;
  CHECK(cached_traffic(turned, stage, 1 << 30, 128) == 3 * all);
  // A column of the input and a row of the output are kept: 32 columns share the lines of each row.
  const double kept = cached_traffic(turned, stage, 1024 * 128 + 32 * 4096, 128);
  CHECK(kept == 3 * all);
  // Not even one column is: every element of the input costs a line of 32.
  const double lost = cached_traffic(turned, stage, 64 * 128, 128);
  CHECK(lost > 30 * all);
  CHECK(lost < 36 * all);
}

}  // namespace stowage::management_plan_test
