// SPDX-License-Identifier: Apache-2.0
// What has to hold of any nest in time. Small ones by hand are in simulate_test.cpp.
#include <algorithm>
#include <map>
#include <random>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/simulate/execution_cost.h"
#include "lowering/simulate/request_sequences.h"
#include "lowering/simulate/simulate.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "operator_draw.h"
#include "parsed_nest.h"
#include "sharing_draw.h"
#include "slots_draw.h"
#include "tests/lowering/track_checks.h"
#include "tests/random_runs.h"
#include "timed_nests.h"

namespace stowage::simulate_random_test {
namespace {

using namespace fixtures;

/// What one core asks for in all, of the engine as if it had it for itself.
struct Demand {
  std::int64_t own = 0;      ///< cycles of the core
  std::int64_t startup = 0;  ///< cycles
  std::int64_t engine_parts = 0;
};

Demand demand_of(const RequestSequences& all, SequenceId sequence) {
  Demand demand;
  for (const SequencePart& part : all.sequences[sequence].parts) {
    Demand inner;
    if (!part.request) {
      inner = demand_of(all, part.sequence);
    } else {
      const Request& request = all.requests[*part.request];
      inner = {request.cycles + request.execution.issue_cycles, request.execution.startup_cycles,
               request.execution.engine_parts};
      // A transfer ends in a whole cycle.
      if (request.kind == Request::Kind::transfer) inner.startup += 1 + request.execution.least_cycles;
    }
    demand.own += inner.own * part.times;
    demand.startup += inner.startup * part.times;
    demand.engine_parts += inner.engine_parts * part.times;
  }
  return demand;
}

void check_bounds(const LoopNest& nest, const Target& target, const Simulation& simulation) {
  const ExecutionCosts costs(nest, target);
  const RequestSequences all = request_sequences(nest, costs, Sharing::equal);
  std::int64_t longest = 0;
  Demand sum;
  for (const SequenceId sequence : all.of_core) {
    const Demand demand = demand_of(all, sequence);
    longest = std::max(longest, demand.own);
    sum.own += demand.own;
    sum.startup += demand.startup;
    sum.engine_parts += demand.engine_parts;
  }
  const std::int64_t engine = (sum.engine_parts + parts_of_cycle - 1) / parts_of_cycle;
  REQUIRE(simulation.cycles >= simulation.launch_cycles + longest);
  REQUIRE(simulation.dma.busy_cycles >= engine);
  REQUIRE(simulation.cycles >= simulation.launch_cycles + engine);
  REQUIRE(simulation.cycles <= simulation.launch_cycles + sum.own + sum.startup + engine + 1);
  // Whoever does it, and whenever: all cycles of every core are accounted for.
  for (const CoreTimes& times : simulation.cores) {
    REQUIRE(simulation.launch_cycles + times.computing + times.issuing + times.waiting_for_dma() +
                times.waiting_at_barriers + times.idle ==
            simulation.cycles);
  }
}

void check_counts(const LoopNest& nest, const Simulation& simulation) {
  const NestCounts counts = predict_counts(nest);
  const DmaTotals predicted = dma_totals(counts);
  REQUIRE(simulation.dma.transfers == predicted.transfers);
  REQUIRE(simulation.dma.operations == predicted.operations);
  REQUIRE(simulation.dma.bytes == predicted.bytes);
  for (const StatementTimes& times : simulation.statements) {
    if (const auto dma = counts.dma.find(times.statement); dma != counts.dma.end()) {
      REQUIRE(times.executions == dma->second.transfers);
    }
    if (const auto fill = counts.fill.find(times.statement); fill != counts.fill.end()) {
      REQUIRE(times.executions == fill->second.executions);
    }
  }
}

/// A simulation in which nothing is shared or carried on, in three orders of events, and with all that.
void check_simulation(const LoopNest& nest, const Target& target, std::uint64_t seed, DmaOrder order_of_dma) {
  const Simulation plain = simulated(nest, target, {false, std::nullopt, order_of_dma, nullptr});
  const Simulation carried_on = simulated(nest, target, {true, std::nullopt, order_of_dma, nullptr});
  check_equal(plain, carried_on);
  for (const std::uint64_t order : {seed, seed + 1}) {
    INFO("order of events: seed " << order);
    check_equal(plain, simulated(nest, target, {false, order, order_of_dma, nullptr}));
    check_equal(plain, simulated(nest, target, {true, order, order_of_dma, nullptr}));
  }
  check_bounds(nest, target, plain);
  check_timeline(nest, target, plain, order_of_dma);
  check_counts(nest, plain);
}

TEST_CASE("random plans in time: within their bounds, the same in any order of events and with repetition carried on") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261124);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 1200);
  int shared = 0;
  int overlapped = 0;
  int shortened = 0;
  int tracks_repeat = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    OperatorDraw draw(seed + round);
    const auto drawn = draw.draw();
    if (!drawn) continue;
    Target target = draw.machine();
    target.dma.startup_cycles = static_cast<double>(draw.between(0, 200));
    target.dma.bandwidth = {{64, static_cast<double>(draw.between(1, 400)) * 1e8}};
    target.cores.launch_seconds = 1e-7;
    if (draw.coin()) target.dma.issue_cycles = static_cast<double>(draw.between(0, 30));
    if (draw.coin()) target.dma.core_bytes_per_second = static_cast<double>(draw.between(1, 400)) * 1e8;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: " << drawn->text << " on " << target.cores.count
                         << " cores with " << target.ldm.bytes << " bytes\n");
    Planned planned = plan_group("op", drawn->stages, {}, SwtvmPlanner(), target, {});
    if (std::holds_alternative<Decision>(planned)) continue;
    const GroupModel model = build_group_model(drawn->stages, target);
    Schedule slots = fixtures::random_slots(draw, model, std::get<Plan>(planned).schedule);
    if (draw.coin()) {
      target = fixtures::with_mesh(draw, std::move(target));
      slots = fixtures::random_sharing(draw, model, target, std::move(slots));
    }
    Planned with_slots = plan_group("op", drawn->stages, slots, SwtvmPlanner(), target, {});
    if (std::holds_alternative<Decision>(with_slots) && target.dma.row_broadcast)
      with_slots = plan_group("op", drawn->stages, {}, SwtvmPlanner(), target, {});
    if (std::holds_alternative<Plan>(with_slots)) planned = std::move(with_slots);
    if (std::get<Plan>(planned).nest.cores_used() > target.cores.count) continue;
    const LoopNest& nest = std::get<Plan>(planned).nest;
    INFO(to_text(nest));
    for (const DmaOrder order : {DmaOrder::shared, DmaOrder::queued}) {
      check_simulation(nest, target, seed + round, order);
      tracks_repeat += test::check_tracks(nest, target, order) ? 1 : 0;
    }
    overlapped += first_use_of_slots(nest) != nullptr ? 1 : 0;
    shared += first_of_team(nest) != nullptr ? 1 : 0;
    const Simulation simulation = simulated(nest, target);
    shortened += 4 * simulation.steps < simulation.events ? 1 : 0;
  }
  CHECK(shared * 20 > static_cast<int>(rounds));
  CHECK(overlapped * 10 > static_cast<int>(rounds));
  CHECK(shortened * 10 > static_cast<int>(rounds));
  CHECK(tracks_repeat * 10 > static_cast<int>(rounds));
}

/// Two cores that load ahead, each with tiles, computation and trips of its own, so that they come past each other in
/// all phases: what each has in flight decides when it comes back to where it was.
LoopNest out_of_step(OperatorDraw& draw) {
  const auto two = [&](std::int64_t low, std::int64_t high, std::int64_t unit) {
    return fmt::format("[{}, {}]", unit * draw.between(low, high), unit * draw.between(low, high));
  };
  const std::string text = fmt::format(R"(nest drift {{
  input X f32[4096]
  output Y f32[4096]
  table tile = {}
  table work = {}
  table trips = {}
  stage scale {{
    Y[i < 4096] = (#0 * 2.0)
    #0 = X[i]
  }}
  variables c, t
  core c < 2 of i stride 1
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 1024 bytes
  buffer XX f32[64] at 0, 512 bytes = X[0] slots 2
  buffer YY f32[64] at 512, 512 bytes = Y[0] slots 2
  body {{
    0  get X[0:tile[c] <= 64] -> XX
    1  for t < trips[c] of i {{
    2    get X[0:tile[c] <= 64] -> XX[(t + 1) % 2]
    3    wait XX[t % 2]
    4    compute map YY[t % 2] = scale(XX[t % 2]) over i=0:work[c] <= 64
    5    put YY[t % 2] -> Y[0:tile[c] <= 64]
    6    wait YY[(t + 1) % 2]
       }}
  }}
}}
)",
                                       two(1, 8, 8), two(1, 8, 8), two(20, 400, 1));
  return parsed(text);
}

TEST_CASE("cores that are not in step come to a steady state together, or to none") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261126);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 300);
  int shortened = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    OperatorDraw draw(seed + round);
    const LoopNest nest = out_of_step(draw);
    Target target = machine();
    target.dma.startup_cycles = static_cast<double>(draw.between(0, 30));
    target.dma.bandwidth = {{4, static_cast<double>(draw.coin() ? 40 : draw.between(10, 120)) * 1e8}};
    if (draw.coin()) target.dma.core_bytes_per_second = static_cast<double>(draw.between(10, 120)) * 1e8;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1\n" << to_text(nest));
    for (const DmaOrder order : {DmaOrder::shared, DmaOrder::queued}) {
      check_simulation(nest, target, seed + round, order);
      test::check_tracks(nest, target, order);
    }
    const Simulation simulation = simulated(nest, target);
    shortened += 2 * simulation.steps < simulation.events ? 1 : 0;
  }
  CHECK(shortened * 40 > static_cast<int>(rounds));
}

TEST_CASE("random nests in time: guards, loops of dependent length, clipped regions") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261125);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 1000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed + round));
    const LoopNest nest = fixtures::random_nest(random);
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1\n" << to_text(nest));
    for (const DmaOrder order : {DmaOrder::shared, DmaOrder::queued})
      check_simulation(nest, machine(), seed + round, order);
  }
}

}  // namespace
}  // namespace stowage::simulate_random_test
