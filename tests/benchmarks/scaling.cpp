// SPDX-License-Identifier: Apache-2.0
// What must grow no faster than the network: 10,000 operators against 20,000, both in one process on the same cores, so
// that the ratio counts and not the machine. "ratio" is the time of one operator in the large network over that in the
// small one: about 1 where the work is linear, 2 where it is quadratic (promised: below 1.3). Times are the
// processor's, of all threads together. Of the page, report.md and the folder every operator is a fused operator of its
// own.
//   exact                 finding, planning and choosing fused operators with strategy exact, cold
//   page                  the report page as it is by default, and with every fused operator told in full
//   markdown              report.md
//   read                  reading the compiled folder back
#include <benchmark/benchmark.h>

#include <ctime>
#include <functional>
#include <string>

#include "core/temporary_folder.h"
#include "driver/page/report_page.h"
#include "driver/report/report.h"
#include "driver/store/plan_file.h"
#include "fusion/facts/views.h"
#include "fusion/fold/fold_intrinsics.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "tests/fusion/net.h"

namespace stowage {
namespace {

constexpr int small_size = 10'000;  ///< operators; the large network has twice as many

/// Convolutions with activations, one behind the other: several are candidates for one fused operator.
Graph chain(int operators) {
  testing::Net net("chain");
  TensorId x = net.input("x", {1, 8, 8, 8});
  const TensorId w = net.constant("w", {8, 8, 3, 3});
  for (int i = 0; i < operators; i += 2) {
    const std::string name = std::to_string(i);
    x = net.op("Conv", "conv" + name, {x, w}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
    x = net.op("Relu", "relu" + name, {x});
  }
  return net.unplaced({x});
}

/// Operators that nothing fuses.
Graph apart(int operators) {
  testing::Net net("apart");
  TensorId x = net.input("x", {4, 64});
  for (int i = 0; i < operators; ++i) x = net.op("Softmax", "softmax" + std::to_string(i), {x});
  return net.unplaced({x});
}

/// Compiled, of so many operators that nothing fuses.
const Compilation& compiled(int operators) {
  static const auto make = [](int size) {
    CompileRequest request;
    request.planner = "swtvm";
    request.command_line = "stowage compile apart.onnx";
    Diagnostics diagnostics;
    auto compilation = compile_graph(apart(size), request, diagnostics);
    check(static_cast<bool>(compilation), format_diagnostics(diagnostics));
    return *std::move(compilation);
  };
  static const Compilation small = make(small_size);
  static const Compilation large = make(2 * small_size);
  return operators == small_size ? small : large;
}

/// `prepare` makes, not timed, the work on a network of so many operators.
void ratio(benchmark::State& state, const std::function<std::function<void()>(int operators)>& prepare) {
  const auto small = prepare(small_size);
  const auto large = prepare(2 * small_size);
  const auto seconds_of = [](const std::function<void()>& work) {
    const std::clock_t start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  double of_small = 0;
  double of_large = 0;
  for (auto _ : state) {
    const double first = seconds_of(small);
    const double second = seconds_of(large);
    of_small += first;
    of_large += second;
    state.SetIterationTime(first + second);
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["us_per_operator"] = 1e6 * of_small / runs / small_size;
  state.counters["ratio"] = of_large / of_small / 2;
}

void exact(benchmark::State& state) {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {}, diagnostics);
  check(static_cast<bool>(target), format_diagnostics(diagnostics));
  ratio(state, [&](int operators) {
    return [&, placed = place_tensors(fold_intrinsics(chain(operators), {}), {}, 4)] {
      const PlannedGroupCost cost(*find_planner("swtvm"), *target, {2, {}});
      benchmark::DoNotOptimize(fuse_graph(placed, built_in_templates(), &cost, *find_strategy("exact"), {}));
    };
  });
}

/// A text of a compilation; "bytes_per_group" and "megabytes" are of the small network's.
void text(benchmark::State& state, const std::function<std::string(const Compilation&)>& make) {
  std::size_t bytes = 0;
  ratio(state, [&](int operators) {
    const Compilation& compilation = compiled(operators);
    return [&, operators] {
      const std::string made = make(compilation);
      if (operators == small_size) bytes = made.size();
    };
  });
  const std::size_t groups = compiled(small_size).program.steps.size();
  state.counters["groups"] = static_cast<double>(groups);
  state.counters["bytes_per_group"] = static_cast<double>(bytes / groups);
  state.counters["megabytes"] = static_cast<double>(bytes) / 1e6;
}

void page(benchmark::State& state, std::size_t details) {
  text(state, [details](const Compilation& compilation) { return report_page(compilation, {}, details); });
}

void markdown(benchmark::State& state) { text(state, report_markdown); }

void read(benchmark::State& state) {
  const TemporaryFolder folder;
  ratio(state, [&](int operators) {
    Diagnostics diagnostics;
    const auto plan = folder.path() / std::to_string(operators);
    const bool written = write_compilation(compiled(operators), plan, false, diagnostics);
    check(written, format_diagnostics(diagnostics));
    return [plan] {
      Diagnostics ignored;
      benchmark::DoNotOptimize(read_compilation(plan, ignored));
    };
  });
}

BENCHMARK(exact)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(page, default_details, usual_details)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(page, all_details, all_details)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);
BENCHMARK(markdown)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(read)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace stowage
