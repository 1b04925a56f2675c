// SPDX-License-Identifier: Apache-2.0
// Times that Stowage promises. Where two programs are compared, both run in one process on the same cores, and the
// ratio is what counts:
//   compile_network/NAME   from the ONNX file to plan, sources and packed parameters; the CPU column is one core's time
//                          (promised: ResNet-50 under one second)
//   emulate_network/NAME   "ratio" is the emulated run, counting, over the oneDNN reference. What is promised beside
//                          ONNX Runtime docs/emulation.md tells, and how it was measured
//   answer_to_stop/AFTER   from the request to stop, AFTER milliseconds into compiling, emulating and checking VGG-16,
//                          to the return (promised: under a second)
//   fuse_network/NAME, fuse_wired/WIDTH
//                         finding, planning and choosing fused operators with strategy exact from a cold cache, on two
//                          threads (promised: under 5 seconds each; of randomly wired graphs with the gap stated). The
//                          CPU column is the time of all threads together; "gap_percent" is how much a better partition
//                          could save at most, 0 where the choice is proved best
//   fuse_chain/STRATEGY/LENGTH
//                         choosing groups in a chain of so many operators, without costs (promised: 8 times as many
//                          take at most 24 times as long)
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>

#include "core/reference/reference.h"
#include "driver/networks/networks.h"
#include "driver/run/check_run.h"
#include "driver/run/inputs.h"
#include "driver/session/session.h"
#include "emitter/athread/emit.h"
#include "emitter/emulation/emulate.h"
#include "fusion/facts/views.h"
#include "fusion/fold/fold_intrinsics.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "tests/fusion/chain_net.h"
#include "tests/fusion/wired_net.h"
#include "tests/places.h"

namespace stowage {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A sample network on disk, written once for all benchmarks.
std::string model_of(const std::string& network, Diagnostics& diagnostics) {
  const auto folder = test::build_folder() / "benchmark_models";
  std::filesystem::create_directories(folder);
  std::string path = (folder / (network + ".onnx")).string();
  if (!std::filesystem::exists(path)) static_cast<void>(write_network(network, {}, path, diagnostics));
  return path;
}

Result<Compilation> compiled(const std::string& network, Diagnostics& diagnostics) {
  CompileRequest request;
  request.model = model_of(network, diagnostics);
  return compile(request, diagnostics);
}

void compile_network(benchmark::State& state, const std::string& network) {
  Diagnostics diagnostics;
  model_of(network, diagnostics);
  for (auto _ : state) {
    auto compilation = compiled(network, diagnostics);
    if (!compilation) {
      state.SkipWithError(format_diagnostics(diagnostics).c_str());
      return;
    }
    benchmark::DoNotOptimize(parameter_bytes(compilation->program));
  }
}

void emulate_network(benchmark::State& state, const std::string& network, EmulationLevel level) {
  Diagnostics diagnostics;
  const auto compilation = compiled(network, diagnostics);
  if (!compilation) {
    state.SkipWithError(format_diagnostics(diagnostics).c_str());
    return;
  }
  const Graph& graph = compilation->program.fused.graph;
  std::vector<Tensor> inputs;
  for (const TensorId input : graph.inputs()) inputs.push_back(random_input(graph, input, 1));

  // The first run of the reference prepares oneDNN's primitives; the second is the one to compare with.
  double reference_seconds = 0;
  for (int run = 0; run < 2; ++run) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(run_reference(graph, inputs, ReferenceMode::onednn));
    reference_seconds = seconds_since(start);
  }

  EmulationOptions options;
  options.level = level;
  options.keep_outputs_of_steps = false;
  double emulated_seconds = 0;
  for (auto _ : state) {
    const auto result = emulate(compilation->program, compilation->emitted, inputs, options, {}, diagnostics);
    if (!result) {
      state.SkipWithError(format_diagnostics(diagnostics).c_str());
      return;
    }
    emulated_seconds = result->run_seconds;
    state.SetIterationTime(emulated_seconds);
  }
  state.counters["emulated_s"] = emulated_seconds;
  state.counters["reference_s"] = reference_seconds;
  state.counters["ratio"] = emulated_seconds / reference_seconds;
}

void answer_to_stop(benchmark::State& state) {
  Diagnostics diagnostics;
  CompileRequest request;
  request.model = model_of("vgg16", diagnostics);
  for (auto _ : state) {
    std::stop_source source;
    std::chrono::steady_clock::time_point asked;
    std::jthread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(state.range(0)));
      asked = std::chrono::steady_clock::now();
      source.request_stop();
    });
    if (const auto compilation = compile(request, diagnostics, source.get_token())) {
      std::vector<Tensor> inputs;
      const Graph& graph = compilation->program.fused.graph;
      for (const TensorId input : graph.inputs()) inputs.push_back(random_input(graph, input, 1));
      benchmark::DoNotOptimize(run_and_check(*compilation, inputs, {}, diagnostics, source.get_token()));
    }
    const auto returned = std::chrono::steady_clock::now();
    user.join();
    if (returned < asked) return state.SkipWithError("it was done before");
    state.SetIterationTime(std::chrono::duration<double>(returned - asked).count());
  }
}

void fuse_exact(benchmark::State& state, const Graph& graph) {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {}, diagnostics);
  const Graph folded = place_tensors(fold_intrinsics(graph, {}), {}, 4);
  FusionRecord record;
  for (auto _ : state) {
    const PlannedGroupCost cost(*find_planner("swtvm"), *target, {2, {}});
    record = fuse_graph(folded, built_in_templates(), &cost, *find_strategy("exact"), {}).record;
  }
  const double cycles = static_cast<double>(record.totals.front().cycles);
  state.counters["candidates"] = static_cast<double>(record.candidates.size());
  state.counters["states"] = static_cast<double>(record.search->states);
  state.counters["widest"] = static_cast<double>(record.search->widest);
  state.counters["gap_percent"] = 100 * (cycles - static_cast<double>(record.search->lower_bound)) / cycles;
}

void fuse_network(benchmark::State& state, const std::string& network) {
  Diagnostics diagnostics;
  const auto graph = import_onnx(model_of(network, diagnostics), {}, diagnostics);
  if (!graph) return state.SkipWithError(format_diagnostics(diagnostics).c_str());
  fuse_exact(state, *graph);
}

void fuse_chain(benchmark::State& state, const std::string& strategy) {
  const auto length = static_cast<int>(state.range(0));
  const Graph graph = testing::chain(length);
  const std::vector<FusionTemplate> templates = testing::chain_of(8);
  for (auto _ : state)
    benchmark::DoNotOptimize(fuse_graph(graph, templates, nullptr, *find_strategy(strategy), {}).fused.groups.size());
}

void fuse_wired(benchmark::State& state) {
  fuse_exact(state, testing::randomly_wired(1, static_cast<std::size_t>(state.range(0)), 40));
}

BENCHMARK_CAPTURE(compile_network, resnet50, "resnet50")->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK_CAPTURE(compile_network, googlenet, "googlenet")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(emulate_network, vgg16_counting, "vgg16", EmulationLevel::count)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(emulate_network, vgg16_checked, "vgg16", EmulationLevel::check)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK(answer_to_stop)
    ->Arg(1)
    ->Arg(30)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1000)
    ->Arg(1500)
    ->Arg(2000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(fuse_network, resnet50, "resnet50")->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(fuse_network, googlenet, "googlenet")->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(fuse_network, mobilenet_v2, "mobilenet_v2")->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(fuse_network, bert_base, "bert_base")->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(fuse_chain, tvm, "tvm")->Arg(4'000)->Arg(32'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fuse_chain, exact, "exact")->Arg(4'000)->Arg(32'000)->Unit(benchmark::kMillisecond);
BENCHMARK(fuse_wired)->Arg(8)->Arg(12)->Arg(16)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace stowage
