// SPDX-License-Identifier: Apache-2.0
// The simulation of compiled networks (promised: ResNet-50 in under two seconds on one core, ten million events a
// second; docs/simulation.md has the figures). All on one thread; times are the processor's.
//   whole/NAME   all of a network's nests, as `stowage simulate` plays them: what every core asks for is drawn up and
//                played, with what repeats carried on. "events/s" counts all events, also those carried on; "steps" are
//                those that were taken
//   drawn/NAME   of that, drawing up what every core asks for
//   each/NAME, each_drawn/NAME
//                the same without anything carried on or done for several cores at once: every event is taken
#include <benchmark/benchmark.h>

#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "driver/networks/networks.h"
#include "driver/session/session.h"
#include "lowering/simulate/simulate.h"
#include "tests/places.h"

namespace stowage {
namespace {

/// Compiled by the defaults, once for all benchmarks; null where it failed.
const Program* compiled(const std::string& network) {
  static std::map<std::string, Result<Compilation>> known;
  const auto [found, is_new] = known.try_emplace(network, Failed{});
  if (is_new) {
    Diagnostics diagnostics;
    const auto folder = test::build_folder() / "benchmark_models";
    std::filesystem::create_directories(folder);
    CompileRequest request;
    request.model = (folder / (network + ".onnx")).string();
    if (!std::filesystem::exists(request.model))
      static_cast<void>(write_network(network, {}, request.model, diagnostics));
    found->second = compile(request, diagnostics);
  }
  return found->second ? &found->second->program : nullptr;
}

/// `play` returns a simulation of a nest; for all nests of a network.
template <class Play>
void simulate_network(benchmark::State& state, const std::string& network, const Play& play) {
  const Program* const program = compiled(network);
  if (program == nullptr) return state.SkipWithError("it does not compile");
  std::int64_t events = 0;
  std::int64_t steps = 0;
  for (auto _ : state) {
    events = steps = 0;
    for (const ProgramStep& step : program->steps) {
      const Plan* const plan = step.plan();
      if (plan == nullptr) continue;
      const Simulated simulated = play(plan->nest, program->target);
      if (const auto* refused = std::get_if<Decision>(&simulated)) return state.SkipWithError(refused->reason.c_str());
      events += std::get<Simulation>(simulated).events;
      steps += std::get<Simulation>(simulated).steps;
    }
  }
  state.counters["events"] = static_cast<double>(events);
  state.counters["steps"] = static_cast<double>(steps);
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsIterationInvariantRate);
}

void whole(benchmark::State& state, const std::string& network) {
  simulate_network(state, network, [](const LoopNest& nest, const Target& target) { return simulate(nest, target); });
}

void draw(benchmark::State& state, const std::string& network, Sharing sharing) {
  const Program* const program = compiled(network);
  if (program == nullptr) return state.SkipWithError("it does not compile");
  for (auto _ : state) {
    for (const ProgramStep& step : program->steps) {
      if (const Plan* const plan = step.plan()) {
        const ExecutionCosts costs(plan->nest, program->target);
        benchmark::DoNotOptimize(request_sequences(plan->nest, costs, sharing).requests.size());
      }
    }
  }
}

void drawn(benchmark::State& state, const std::string& network) { draw(state, network, Sharing::equal); }
void each_drawn(benchmark::State& state, const std::string& network) { draw(state, network, Sharing::none); }

void each(benchmark::State& state, const std::string& network) {
  simulate_network(state, network, [](const LoopNest& nest, const Target& target) {
    SimulationOptions options;
    options.extrapolate = false;
    return simulate(nest, target, options);
  });
}

#define NETWORK(name)                                                   \
  BENCHMARK_CAPTURE(whole, name, #name)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(drawn, name, #name)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(each, name, #name)->Unit(benchmark::kMillisecond);  \
  BENCHMARK_CAPTURE(each_drawn, name, #name)->Unit(benchmark::kMillisecond)
NETWORK(resnet18);
NETWORK(resnet50);
NETWORK(googlenet);
NETWORK(vgg16);

}  // namespace
}  // namespace stowage
