// SPDX-License-Identifier: Apache-2.0
// A machine whose cycles are easily worked out, small nests for it, and how they are simulated.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/target.h"
#include "lowering/simulate/simulate.h"
#include "parsed_nest.h"

namespace stowage::fixtures {

/// 1 GHz; 100 cycles to launch; a transfer starts up for 10 cycles, then moves so many bytes a cycle; one operation a
/// cycle.
inline Target machine(double bytes_per_cycle = 4) {
  Target target;
  target.name = "machine";
  target.clock_hz = 1e9;
  target.cores.launch_seconds = 100e-9;
  target.dma.startup_cycles = 10;
  target.dma.bandwidth = {{4, bytes_per_cycle * 1e9}};
  return target;
}

inline Simulation simulated(const LoopNest& nest, const Target& target, const SimulationOptions& options = {}) {
  const Simulated result = simulate(nest, target, options);
  if (const auto* refused = std::get_if<Decision>(&result)) FAIL(refused->rule << ": " << refused->reason);
  return std::get<Simulation>(result);
}

/// Y[i] = 2 * X[i], tile by tile; core coordinates, variables, buffers and body are the caller's.
inline LoopNest scale(int elements, const std::string& header, const std::string& body) {
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

inline void check_equal(const Simulation& a, const Simulation& b) {
  REQUIRE(a.cycles == b.cycles);
  REQUIRE(a.cores == b.cores);
  REQUIRE(a.dma == b.dma);
  REQUIRE(a.statements == b.statements);
  REQUIRE(a.events == b.events);
}

/// What is written down event by event sums up to what is told.
inline void check_timeline(const LoopNest& nest, const Target& target, const Simulation& simulation,
                           DmaOrder order_of_dma = DmaOrder::shared) {
  using Kind = Timeline::Slice::Kind;
  Timeline timeline;
  SimulationOptions options;
  options.timeline = &timeline;
  options.dma_order = order_of_dma;
  check_equal(simulation, simulated(nest, target, options));
  std::vector<CoreTimes> cores(simulation.cores.size());
  std::vector<std::int64_t> end(cores.size(), simulation.launch_cycles);  // of the slice before
  std::map<StatementId, std::int64_t> waited;
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
  std::map<StatementId, std::int64_t> under_way;
  std::int64_t bytes = 0;
  for (const Timeline::Transfer& transfer : timeline.transfers) {
    REQUIRE(transfer.begun <= transfer.moves);
    REQUIRE(transfer.moves <= transfer.ended);
    under_way[transfer.statement] += transfer.ended - transfer.begun;
    bytes += transfer.bytes;
    if (!transfer.wait) continue;
    const Timeline::Slice& wait = timeline.slices.at(*transfer.wait);
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

}  // namespace stowage::fixtures
