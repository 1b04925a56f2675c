// SPDX-License-Identifier: Apache-2.0
// Nests in time: small ones whose cycles are worked out by hand.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/simulate/simulate.h"
#include "parsed_nest.h"
#include "slots_draw.h"
#include "timed_nests.h"

namespace stowage::simulate_test {
namespace {

using namespace fixtures;

const CoreTimes& core(const Simulation& simulation, std::size_t number) { return simulation.cores.at(number); }

StatementTimes times_of(const Simulation& simulation, StatementId statement) {
  for (const StatementTimes& times : simulation.statements) {
    if (times.statement == statement) return times;
  }
  return {};
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
  CHECK(times_of(simulation, StatementId(1)) == StatementTimes{StatementId(1), 3, 3 * 74, 3 * 74});
  CHECK(times_of(simulation, StatementId(3)) == StatementTimes{StatementId(3), 3, 3 * 64, 0});
  CHECK(times_of(simulation, StatementId(4)) == StatementTimes{StatementId(4), 3, 3 * 74, 3 * 74});
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
  CHECK(times_of(simulation, StatementId(3)) == StatementTimes{StatementId(3), 1, 74, 0});
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
  CHECK(times_of(simulation, StatementId(4)).waited + times_of(simulation, StatementId(7)).waited == 2 * 522);
  CHECK(times_of(simulation, StatementId(7)).executions == 6);
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
  CHECK(times_of(unequal_parts, StatementId(0)) == StatementTimes{StatementId(0), 1, 10 + 32, 0});
  CHECK(times_of(unequal_parts, StatementId(1)) == StatementTimes{StatementId(1), 1, 10 + 64, 74});
  // Of two that come together, to the first.
  for (std::uint64_t order = 0; order < 8; ++order) {
    const Simulation equal_parts = simulated(in_two_parts(32), machine(), {true, order, DmaOrder::shared, nullptr});
    CHECK(times_of(equal_parts, StatementId(0)) == StatementTimes{StatementId(0), 1, 74, 74});
    CHECK(times_of(equal_parts, StatementId(1)) == StatementTimes{StatementId(1), 1, 74, 0});
  }
}

TEST_CASE("calls take their core's time, and a core takes no more bytes than it can") {
  Target target = machine();
  target.dma.issue_cycles = 5;
  target.dma.core_bytes_per_second = 2e9;
  // 32 elements are 128 bytes: 32 cycles of the engine, but 64 until the core has them. The first moves at 15 and is
  // there at 79; the second moves at 20, but behind the first the core has it at 143. The put moves 256 bytes, in 128
  // cycles.
  const Simulation shared = simulated(in_two_parts(32), target);
  CHECK(shared.cycles == 100 + 143 + 64 + (5 + 10 + 128));
  CHECK(core(shared, 0) == CoreTimes{64, 15, 133, 138, 0, 0});
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
  CHECK(times_of(simulation, StatementId(0)) == StatementTimes{StatementId(0), 2, 2 * 138, 2 * 138});
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
  CHECK(std::get<Decision>(teams).reason.starts_with("statement 0: nothing says how fast"));

  Target slow = machine();
  slow.dma.startup_cycles = 1e14;
  const Simulated late = simulate(unequal(), slow);
  REQUIRE(std::holds_alternative<Decision>(late));
  CHECK(std::get<Decision>(late).rule == "too-many-cycles");
}

}  // namespace
}  // namespace stowage::simulate_test
