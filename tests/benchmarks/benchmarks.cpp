// SPDX-License-Identifier: Apache-2.0
// Times that Stowage promises. Where two programs are compared, both run in one process on the same cores, and the
// ratio is what counts:
//   compile_network/NAME   from the ONNX file to plan, sources and packed parameters; the CPU column is one core's time
//                          (promised: ResNet-50 under one second)
//   emulate_network/NAME   "ratio" is the emulated run over the oneDNN reference (promised: VGG-16 at most 10 in
//   counting
//                          mode)
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "core/reference/reference.h"
#include "driver/inputs.h"
#include "driver/networks.h"
#include "driver/session.h"
#include "emitter/emulate.h"

namespace stowage {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A sample network on disk, written once for all benchmarks.
std::string model_of(const std::string& network, Diagnostics& diagnostics) {
  const auto folder = std::filesystem::path(STOWAGE_BINARY_DIR) / "benchmark_models";
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
    benchmark::DoNotOptimize(compilation->parameters.data());
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

}  // namespace
}  // namespace stowage
