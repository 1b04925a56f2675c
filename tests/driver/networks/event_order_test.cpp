// SPDX-License-Identifier: Apache-2.0
// Three plans of sample networks in time: whatever the order in which events of one cycle are taken, the result is the
// same; and the checker has nothing against them. STOWAGE_NETWORKS names others than the small ones ("resnet50 vgg16"),
// or "all".
#include <array>
#include <cstdlib>
#include <string>
#include <variant>

#include <catch2/catch.hpp>

#include "driver/networks/networks.h"
#include "driver/session/session.h"
#include "lowering/check/check_nest.h"
#include "lowering/simulate/simulate.h"
#include "tests/driver/networks/chosen_networks.h"
#include "tests/driver/networks/scratch_file.h"

namespace stowage {
namespace {

Simulation simulated(const LoopNest& nest, const Target& target, const SimulationOptions& options) {
  const Simulated result = simulate(nest, target, options);
  if (const auto* refused = std::get_if<Decision>(&result)) FAIL(refused->rule << ": " << refused->reason);
  return std::get<Simulation>(result);
}

}  // namespace

TEST_CASE("the order of events of one cycle changes nothing in three plans of each network, and the plans are good") {
  constexpr std::array<std::array<const char*, 2>, 3> plans = {
      {{"searched", "exact"}, {"searched", "greedy"}, {"swtvm", "none"}}};
  for (const std::string& network : test::chosen_networks({"lenet", "cifarnet", "matmul", "vector"})) {
    const test::ScratchFile model(network);
    Diagnostics diagnostics;
    REQUIRE(write_network(network, {}, model.path(), diagnostics));
    std::int64_t nests = 0;
    std::int64_t events = 0;
    for (const auto& [planner, fusion] : plans) {
      INFO(network << " by " << planner << ", fusion " << fusion);
      CompileRequest request;
      request.model = model.path();
      request.planner = planner;
      request.fusion = fusion;
      const auto compilation = compile(request, diagnostics);
      INFO(format_diagnostics(diagnostics));
      REQUIRE(compilation);
      const Target& target = compilation->program.target;
      for (const ProgramStep& step : compilation->program.steps) {
        const Plan* const plan = step.plan();
        if (plan == nullptr) continue;
        INFO(step.group.name);
        const NestCheck check = check_nest(plan->nest, target);
        for (const Fault& fault : check.faults) FAIL_CHECK(name_of(fault.family) << ": " << fault.what);
        for (const DmaOrder dma_order : {DmaOrder::shared, DmaOrder::queued}) {
          SimulationOptions options;
          options.dma_order = dma_order;
          const Simulation as_they_come = simulated(plan->nest, target, options);
          for (const std::uint64_t seed : {1, 2, 3}) {
            for (const bool extrapolate : {true, false}) {
              options.order_seed = seed;
              options.extrapolate = extrapolate;
              const Simulation shuffled = simulated(plan->nest, target, options);
              REQUIRE(shuffled.cycles == as_they_come.cycles);
              REQUIRE(shuffled.cores == as_they_come.cores);
              REQUIRE(shuffled.dma == as_they_come.dma);
              REQUIRE(shuffled.statements == as_they_come.statements);
            }
          }
          ++nests;
          events += as_they_come.events;
        }
      }
    }
    CHECK(nests > 0);
    if (std::getenv("STOWAGE_NETWORKS") != nullptr)
      WARN(network << ": " << nests / 2 << " nests, " << events << " events");
  }
}

}  // namespace stowage
