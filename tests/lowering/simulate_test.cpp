// SPDX-License-Identifier: Apache-2.0
// Nests in time: small ones whose cycles are worked out by hand, then what has to hold of any.
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
#include "lowering/verify/verify.h"
#include "operator_draw.h"
#include "parsed_nest.h"
#include "sharing_draw.h"
#include "slots_draw.h"
#include "tests/lowering/track_checks.h"
#include "tests/random_runs.h"

namespace stowage {
namespace {

using fixtures::OperatorDraw;

/// 1 GHz; 100 cycles to launch; a transfer starts up for 10 cycles, then moves so many bytes a cycle; one operation a
/// cycle.
Target machine(double bytes_per_cycle = 4) {
  Target target;
  target.name = "machine";
  target.clock_hz = 1e9;
  target.cores.launch_seconds = 100e-9;
  target.dma.startup_cycles = 10;
  target.dma.bandwidth = {{4, bytes_per_cycle * 1e9}};
  return target;
}

Simulation simulated(const LoopNest& nest, const Target& target, const SimulationOptions& options = {}) {
  const Simulated result = simulate(nest, target, options);
  if (const auto* refused = std::get_if<Decision>(&result)) FAIL(refused->rule << ": " << refused->reason);
  return std::get<Simulation>(result);
}

/// Y[i] = 2 * X[i], tile by tile; core coordinates, variables, buffers and body are the caller's.
LoopNest scale(int elements, const std::string& header, const std::string& body) {
  const std::string text = fmt::format(R"(nest scale {{
  input X f32[{0}]
  output Y f32[{0}]
  stage scale {{
    Y[i < {0}] = (#0 * 2.0)
    #0 = X[i]
  }}
{1}  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 1024 bytes
{2}}}
)",
                                       elements, header, body);
  return parsed(text);
}

const CoreTimes& core(const Simulation& simulation, std::size_t number) { return simulation.cores.at(number); }

StatementTimes times_of(const Simulation& simulation, int statement) {
  for (const StatementTimes& times : simulation.statements) {
    if (times.statement == statement) return times;
  }
  return {};
}

void check_equal(const Simulation& a, const Simulation& b) {
  REQUIRE(a.cycles == b.cycles);
  REQUIRE(a.cores == b.cores);
  REQUIRE(a.dma == b.dma);
  REQUIRE(a.statements == b.statements);
  REQUIRE(a.events == b.events);
}

/// What is written down event by event sums up to what is told.
void check_timeline(const LoopNest& nest, const Target& target, const Simulation& simulation,
                    DmaOrder order_of_dma = DmaOrder::shared) {
  using Kind = Timeline::Slice::Kind;
  Timeline timeline;
  SimulationOptions options;
  options.timeline = &timeline;
  options.dma_order = order_of_dma;
  check_equal(simulation, simulated(nest, target, options));
  std::vector<CoreTimes> cores(simulation.cores.size());
  std::vector<std::int64_t> end(cores.size(), simulation.launch_cycles);  // of the slice before
  std::map<int, std::int64_t> waited;                                     // by statement
  for (const Timeline::Slice& slice : timeline.slices) {
    const auto core = static_cast<std::size_t>(slice.core);
    REQUIRE(slice.from == end[core]);  // a core never does nothing before its end
    REQUIRE(slice.to > slice.from);
    end[core] = slice.to;
    CoreTimes& times = cores[core];
    std::int64_t& sum = slice.kind == Kind::compute        ? times.computing
                        : slice.kind == Kind::issue        ? times.issuing
                        : slice.kind == Kind::wait_for_get ? times.waiting_for_gets
                        : slice.kind == Kind::wait_for_put ? times.waiting_for_puts
                                                           : times.waiting_at_barriers;
    sum += slice.to - slice.from;
    if (slice.kind == Kind::wait_for_get || slice.kind == Kind::wait_for_put) {
      waited[slice.statement] += slice.to - slice.from;
    }
  }
  for (std::size_t core = 0; core < cores.size(); ++core) cores[core].idle = simulation.cycles - end[core];
  REQUIRE(cores == simulation.cores);
  std::map<int, std::int64_t> under_way;
  std::int64_t bytes = 0;
  for (const Timeline::Transfer& transfer : timeline.transfers) {
    REQUIRE(transfer.begun <= transfer.moves);
    REQUIRE(transfer.moves <= transfer.ended);
    under_way[transfer.statement] += transfer.ended - transfer.begun;
    bytes += transfer.bytes;
    if (transfer.wait < 0) continue;
    const Timeline::Slice& wait = timeline.slices.at(static_cast<std::size_t>(transfer.wait));
    REQUIRE(wait.core == transfer.core);
    REQUIRE(wait.from >= transfer.begun);
    REQUIRE(wait.from < transfer.ended);
    REQUIRE(wait.to >= transfer.ended);
  }
  REQUIRE(bytes == simulation.dma.bytes);
  for (const StatementTimes& times : simulation.statements) {
    REQUIRE(waited[times.statement] == times.waited);
    if (std::holds_alternative<Dma>(find_statement(nest, times.statement)->node)) {
      REQUIRE(under_way[times.statement] == times.cycles);
    }
  }
}

TEST_CASE("with one buffer each, loading, computing and storing take turns") {
  const LoopNest nest = scale(192, "  variables t\n", R"(
  buffer XX f32[64] at 0, 256 bytes = X[64*t]
  buffer YY f32[64] at 256, 256 bytes = Y[64*t]
  body {
    0  for t < 3 of i {
    1    get X[64*t:64*t + 64] -> XX
    2    wait 1
    3    compute map YY = scale(XX) over i=64*t:64*t + 64
    4    put YY -> Y[64*t:64*t + 64]
    5    wait 4
       }
  }
)");
  const Simulation simulation = simulated(nest, machine());
  // A tile of 256 bytes: 10 + 64 cycles each way, 64 operations between them.
  CHECK(simulation.cycles == 100 + 3 * (74 + 64 + 74));
  CHECK(simulation.launch_cycles == 100);
  CHECK(core(simulation, 0) == CoreTimes{3 * 64, 0, 3 * 74, 3 * 74, 0, 0});
  CHECK(simulation.exposed_dma_cycles() == 6 * 74);
  CHECK(simulation.dma == DmaTimes{6 * 64, 6, 6, 6 * 256});
  CHECK(times_of(simulation, 1) == StatementTimes{1, 3, 3 * 74, 3 * 74});
  CHECK(times_of(simulation, 3) == StatementTimes{3, 3, 3 * 64, 0});
  CHECK(times_of(simulation, 4) == StatementTimes{4, 3, 3 * 74, 3 * 74});
}

TEST_CASE("a put that nobody waits for ends behind the core") {
  const LoopNest nest = scale(64, "", R"(
  buffer XX f32[64] at 0, 256 bytes = X[0]
  buffer YY f32[64] at 256, 256 bytes = Y[0]
  body {
    0  get X[0:64] -> XX
    1  wait 0
    2  compute map YY = scale(XX) over i=0:64
    3  put YY -> Y[0:64]
  }
)");
  const Simulation simulation = simulated(nest, machine());
  CHECK(simulation.cycles == 100 + 74 + 64 + 74);
  CHECK(core(simulation, 0) == CoreTimes{64, 0, 74, 0, 0, 74});
  CHECK(simulation.exposed_dma_cycles() == 74 + 74);
  CHECK(times_of(simulation, 3) == StatementTimes{3, 1, 74, 0});
}

/// C = A * B in tiles of 16 x 16 of B, so many in a column, of which the next is loaded while one is computed with.
LoopNest matmul(int tiles) {
  return parsed(fmt::format(R"(nest matmul {{
  input A f32[1,{0}]
  input B f32[{0},32]
  output C f32[1,32]
  stage matmul {{
    C[x < 1, y < 32] = sum over k < {0} of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
  }}
  variables yo, ko
  memory A = A strides [{0}, 1]
  memory B = B strides [32, 1]
  memory C = C strides [32, 1] written
  ldm 32768 bytes
  buffer BB f32[16,16] at 0, 2048 bytes = B[16*ko, 16*yo] slots 2
  buffer CC f32[1,16] at 2048, 64 bytes = C[0, 16*yo]
  buffer AA f32[1,{0}] at 2112, {1} bytes = A[0, 0]
  body {{
    0  get A[0:1, 0:{0}] -> AA
    1  wait 0
    2  for yo < 2 of y {{
    3    fill CC with 0
    4    get B[0:16, 16*yo:16*yo + 16] -> BB from [0, 16*yo]
    5    for ko < {2} of k {{
    6      if any(-ko + {3}) > 0 {{
    7        get B[16*ko + 16:16*ko + 32, 16*yo:16*yo + 16] -> BB[(ko + 1) % 2] from [16*ko + 16, 16*yo]
           }}
    8      wait BB[ko % 2]
    9      compute update CC = matmul(AA, BB[ko % 2]) over x=0:1, y=16*yo:16*yo + 16, k=16*ko:16*ko + 16
         }}
   10    put CC -> C[0:1, 16*yo:16*yo + 16]
   11    wait 10
       }}
  }}
}}
)",
                            16 * tiles, 64 * tiles, tiles, tiles - 1));
}

TEST_CASE("tiles that are loaded ahead come while the core computes") {
  // A tile of B: 10 + 256 cycles at 4 bytes a cycle; 16 * 16 * 2 = 512 operations with it.
  const Simulation simulation = simulated(matmul(4), machine());
  // Of each column the first two tiles are asked for at once and share the engine: 10 + 2 * 256 until both are there.
  // From then on each is there before it is asked for. The sum starts with 16 elements that are set, in 4 vectors; 64
  // bytes of result go.
  const std::int64_t column = 4 + (10 + 2 * 256) + 4 * 512 + (10 + 16);
  CHECK(simulation.cycles == 100 + (10 + 64) + 2 * column);
  CHECK(core(simulation, 0) == CoreTimes{2 * (4 + 4 * 512), 0, 74 + 2 * 522, 2 * 26, 0, 0});
  CHECK(simulation.dma.busy_cycles == 64 + 2 * (4 * 256 + 16));
  CHECK(times_of(simulation, 4).waited + times_of(simulation, 7).waited == 2 * 522);
  CHECK(times_of(simulation, 7).executions == 6);
}

TEST_CASE("transfers of a core that queue up come in the order in which they were started") {
  // The second tile waits for the first: it is there after 10 + 256 cycles of the column, and the second moves while
  // the first is computed with.
  SimulationOptions options;
  options.dma_order = DmaOrder::queued;
  const Simulation simulation = simulated(matmul(4), machine(), options);
  const std::int64_t column = 4 + (10 + 256) + 4 * 512 + (10 + 16);
  CHECK(simulation.cycles == 100 + (10 + 64) + 2 * column);
  CHECK(core(simulation, 0).waiting_for_gets == 74 + 2 * 266);
  CHECK(simulation.dma.busy_cycles == 64 + 2 * (4 * 256 + 16));
}

TEST_CASE("where loading takes longer than computing, the engine never rests") {
  // A tile of B: 10 + 1024 cycles. The first two share the engine until cycle 4 + 10 + 2048 of the column. Tile 2 is
  // asked for when tile 0 has been computed with, and moves 10 cycles later, at 2584; tile 3 512 cycles behind it, at
  // 3096. Of tile 2 are left 512 then, which take 1024 while both share: it is there at 4120. Of tile 3 are left 512,
  // which it gets alone, while tile 2 is computed with.
  const Simulation simulation = simulated(matmul(4), machine(1));
  const std::int64_t column = 4120 + 512 + 512 + (10 + 64);
  CHECK(simulation.cycles == 100 + (10 + 256) + 2 * column);
  CHECK(core(simulation, 0).waiting_for_gets == 266 + 2 * (2058 + (4120 - 3086)));
}

TEST_CASE("the longer of loading and computing sets the pace") {
  const auto cycles_of_32_tiles = [](double bytes_per_cycle) {
    return simulated(matmul(64), machine(bytes_per_cycle)).cycles -
           simulated(matmul(32), machine(bytes_per_cycle)).cycles;
  };
  const std::int64_t of_a = 32 * 64;  // bytes of A, which are loaded before
  CHECK(cycles_of_32_tiles(4) == of_a / 4 + 2 * 32 * 512);
  // Every other tile is asked for when nothing is under way (cycle 4632 of the column above), and starts up alone.
  CHECK(cycles_of_32_tiles(1) == of_a + 2 * (32 * 1024 + 16 * 10));
}

/// Two gets fill parts of one slot, of so many elements, and one wait is for both.
LoopNest in_two_parts(int first) {
  return scale(64, "",
               fmt::format(R"(
  buffer XX f32[64] at 0, 256 bytes = X[0]
  buffer YY f32[64] at 256, 256 bytes = Y[0]
  body {{
    0  get X[0:{0}] -> XX
    1  get X[{0}:64] -> XX
    2  wait XX
    3  compute map YY = scale(XX) over i=0:64
    4  put YY -> Y[0:64]
    5  wait 4
  }}
)",
                           first));
}

TEST_CASE("a wait for a slot is for all that is under way there, and counts to what came last") {
  // 64 bytes and 192 bytes share until the smaller part is there: 10 + 32 cycles. The rest comes alone.
  const Simulation unequal_parts = simulated(in_two_parts(16), machine());
  CHECK(unequal_parts.cycles == 100 + (10 + 64) + 64 + 74);
  CHECK(times_of(unequal_parts, 0) == StatementTimes{0, 1, 10 + 32, 0});
  CHECK(times_of(unequal_parts, 1) == StatementTimes{1, 1, 10 + 64, 74});
  // Of two that come together, to the first.
  for (std::uint64_t order = 0; order < 8; ++order) {
    const Simulation equal_parts = simulated(in_two_parts(32), machine(), {true, order, DmaOrder::shared, nullptr});
    CHECK(times_of(equal_parts, 0) == StatementTimes{0, 1, 74, 74});
    CHECK(times_of(equal_parts, 1) == StatementTimes{1, 1, 74, 0});
  }
}

TEST_CASE("calls take their core's time, and a core takes no more bytes than it can") {
  Target target = machine();
  target.dma.issue_cycles = 5;
  target.dma.core_bytes_per_second = 2e9;
  // 32 elements are 128 bytes: 32 cycles of the engine, but 64 until the core has them. The first moves at 15, the
  // second at 20, until 84. The put moves 256 bytes, in 128 cycles.
  const Simulation shared = simulated(in_two_parts(32), target);
  CHECK(shared.cycles == 100 + 84 + 64 + (5 + 10 + 128));
  CHECK(core(shared, 0) == CoreTimes{64, 15, 74, 138, 0, 0});
  CHECK(shared.dma.busy_cycles == 69 - 5 + 64);
  // One behind the other: from 15 to 79, and to 143.
  SimulationOptions options;
  options.dma_order = DmaOrder::queued;
  const Simulation queued = simulated(in_two_parts(32), target, options);
  CHECK(queued.cycles == 100 + 143 + 64 + (5 + 10 + 128));
  CHECK(queued.dma.busy_cycles == 32 + 32 + 64);
}

const std::string two_cores = "  variables c\n  core c < 2 of i stride 1\n";

TEST_CASE("two cores that load at once get half of the bandwidth each") {
  const LoopNest nest = scale(128, two_cores, R"(
  buffer XX f32[64] at 0, 256 bytes = X[64*c]
  buffer YY f32[64] at 256, 256 bytes = Y[64*c]
  body {
    0  get X[64*c:64*c + 64] -> XX
    1  wait 0
    2  compute map YY = scale(XX) over i=64*c:64*c + 64
    3  put YY -> Y[64*c:64*c + 64]
    4  wait 3
  }
)");
  const Simulation simulation = simulated(nest, machine());
  CHECK(simulation.cycles == 100 + (10 + 128) + 64 + (10 + 128));
  CHECK(core(simulation, 0) == core(simulation, 1));
  CHECK(core(simulation, 0) == CoreTimes{64, 0, 138, 138, 0, 0});
  CHECK(simulation.dma == DmaTimes{256, 4, 4, 1024});
  CHECK(times_of(simulation, 0) == StatementTimes{0, 2, 2 * 138, 2 * 138});
}

/// Core 0 has 64 elements, core 1 has 32.
LoopNest unequal() {
  return scale(96, two_cores, R"(
  buffer XX f32[64] at 0, 256 bytes = X[64*c]
  buffer YY f32[64] at 256, 256 bytes = Y[64*c]
  body {
    0  get X[64*c:min(64*c + 64, 96) <= 64] -> XX
    1  wait 0
    2  compute map YY = scale(XX) over i=64*c:min(64*c + 64, 96) <= 64
    3  put YY -> Y[64*c:min(64*c + 64, 96) <= 64]
    4  wait 3
  }
)");
}

TEST_CASE("a core with less to do is done earlier, and leaves the bandwidth to the others") {
  const Simulation simulation = simulated(unequal(), machine());
  // Both load from cycle 10 on at 2 bytes a cycle. Core 1 has its 128 at 74; of core 0's 128 are left, which come at 4:
  // 106. Core 1 computes until 106, stores from 116 to 148. Core 0 computes until 170, stores from 180 to 244.
  CHECK(simulation.cycles == 100 + 244);
  CHECK(core(simulation, 0) == CoreTimes{64, 0, 106, 74, 0, 0});
  CHECK(core(simulation, 1) == CoreTimes{32, 0, 74, 42, 0, 244 - 148});
  CHECK(simulation.exposed_dma_cycles() == 106 + 74);
  CHECK(simulation.dma.busy_cycles == 96 + 32 + 64);
}

TEST_CASE("cores meet at a barrier") {
  const LoopNest nest = scale(96, two_cores, R"(
  buffer XX f32[64] at 0, 256 bytes = X[64*c]
  buffer YY f32[64] at 256, 256 bytes = Y[64*c]
  body {
    0  compute map YY = scale(XX) over i=64*c:min(64*c + 64, 96) <= 64
    1  barrier
    2  compute map YY = scale(XX) over i=64*c:min(64*c + 64, 96) <= 64
  }
)");
  const Simulation simulation = simulated(nest, machine());
  CHECK(simulation.cycles == 100 + 64 + 64);
  CHECK(core(simulation, 1) == CoreTimes{64, 0, 0, 0, 32, 32});
  check_timeline(nest, machine(), simulation);
}

TEST_CASE("transfers that no target prices are refused, and times beyond all reason") {
  LoopNest nest = unequal();
  Stmt get = *nest.body.front();
  std::get<Dma>(get.node).to = Space::column;
  nest.body.front() = std::make_shared<const Stmt>(get);
  const Simulated teams = simulate(nest, machine());
  REQUIRE(std::holds_alternative<Decision>(teams));
  CHECK(std::get<Decision>(teams).rule == "no-rate");
  CHECK(std::get<Decision>(teams).reason.starts_with("statement 0: no target says how fast"));

  Target slow = machine();
  slow.dma.startup_cycles = 1e14;
  const Simulated late = simulate(unequal(), slow);
  REQUIRE(std::holds_alternative<Decision>(late));
  CHECK(std::get<Decision>(late).rule == "too-many-cycles");
}

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
}  // namespace stowage
