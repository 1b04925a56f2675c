// SPDX-License-Identifier: Apache-2.0
// Every key of a target file is obeyed or refused: changing it changes what is planned, emitted or estimated, or is an
// error that names it. Programs for machines of other sizes than SW26010 are emulated within their bounds.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "core/evaluate.h"
#include "core/number_text.h"
#include "core/operators.h"
#include "lowering/program/library_plan.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/planners.h"
#include "lowering/program/program.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/fusion/net.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

using testing::Net;

Tensor filled(const Shape& shape) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 37 % 23) / 11.0F - 1.0F;
  return Tensor::of_floats(shape, numbers);
}

/// relu(A B) and its maximum pool with a stride: something to compute in vectors, and something that cannot be.
Graph product_and_pool() {
  Net net;
  const TensorId a = net.input("A", {128, 96});
  const TensorId b = net.constant("B", filled({96, 72}));
  const TensorId product = net.op("Relu", "Relu", {net.op("MatMul", "MatMul", {a, b})});
  const TensorId image = net.op("Reshape", "Reshape", {product}, {{"shape", std::vector<std::int64_t>{1, 16, 8, 72}}});
  return net.unplaced(
      net.op("MaxPool", "MaxPool", {image},
             {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}}));
}

Result<Compilation> compile_with(const Graph& graph, const std::vector<std::string>& settings, Diagnostics& diagnostics,
                                 const std::string& planner = std::string(default_planner())) {
  CompileRequest request;
  request.planner = planner;
  request.settings = settings;
  return compile_graph(graph, request, diagnostics);
}

/// Everything that a target may decide, as text: sources, plans, their costs. By the planner of the papers as well:
/// where it starts (`dma.good_block_bytes`) the search may climb away from.
std::string outcome(const std::vector<std::string>& settings) {
  std::string text;
  for (const char* planner : {"searched", "swtvm"}) {
    Diagnostics diagnostics;
    const auto compilation = compile_with(product_and_pool(), settings, diagnostics, planner);
    if (!compilation) return "refused: " + format_diagnostics(diagnostics);
    for (const EmittedFile& file : compilation->emitted.files) {
      // The reproducer line names the target's hash, which any change changes.
      const bool is_signed = file.path == "main.c" || file.path == "Makefile";
      text += is_signed ? file.text.substr(file.text.find('\n')) : file.text;
    }
    for (const ProgramStep& step : compilation->program.steps) {
      if (step.plan() != nullptr)
        text += fmt::format("{}{} cycles\n", to_text(step.plan()->nest), step.plan()->time.cycles);
    }
  }
  return text;
}

/// What the management core takes for an operator of which not one element fits into the LDM.
std::string outcome_without_ldm(std::vector<std::string> settings) {
  Net net;
  const Graph graph = net.unplaced(net.op("Softmax", "Softmax", {net.input("x", {64, 512})}));
  settings.insert(settings.end(), {"target.ldm.bytes=260", "target.ldm.reserved=256"});
  Diagnostics diagnostics;
  const auto compilation = compile_with(graph, settings, diagnostics);
  if (!compilation) return "refused: " + format_diagnostics(diagnostics);
  std::string text;
  for (const ProgramStep& step : compilation->program.steps) {
    REQUIRE(step.on_management_core() != nullptr);
    text += fmt::format("{} cycles\n", step.on_management_core()->cycles());
  }
  return text;
}

/// A product that the library of the target computes, as planner swtvm has no loop nest of it that is faster.
std::string outcome_by_library(std::vector<std::string> settings) {
  Net net;
  const Graph graph =
      net.unplaced(net.op("MatMul", "MatMul", {net.input("a", {512, 512}), net.constant("b", filled({512, 512}))}));
  CompileRequest request;
  request.library = "xmath";
  request.planner = "swtvm";
  request.settings = std::move(settings);
  Diagnostics diagnostics;
  const auto compilation = compile_graph(graph, request, diagnostics);
  if (!compilation) return "refused: " + format_diagnostics(diagnostics);
  std::string text;
  for (const ProgramStep& step : compilation->program.steps) {
    REQUIRE(step.by_library() != nullptr);
    text += fmt::format("{} cycles\n", step.by_library()->cycles());
  }
  for (const EmittedFile& file : compilation->emitted.files) {
    const bool is_signed = file.path == "main.c" || file.path == "Makefile";
    text += is_signed ? file.text.substr(file.text.find('\n')) : file.text;
  }
  return text;
}

/// Of a product whose operands are loaded by rows and by columns.
std::string outcome_of_product(const std::vector<std::string>& settings) {
  Net net;
  const TensorId x = net.input("x", {196, 1024});
  const TensorId w = net.input("w", {1024, 256});
  const Graph graph = net.unplaced(net.op("MatMul", "product", {x, w}));
  Diagnostics diagnostics;
  const auto compilation = compile_with(graph, settings, diagnostics, "searched");
  if (!compilation) return "refused: " + format_diagnostics(diagnostics);
  return fmt::format("{} cycles", totals_of(compilation->program).cycles);
}

/// Of a sum of three numbers, too few for a vector; the exponential of one takes longer than any rate here.
std::string outcome_of_scalars(const std::vector<std::string>& settings) {
  Net net;
  const Graph graph = net.unplaced(net.op("Add", "sum", {net.input("x", {3}), net.input("y", {3})}));
  Diagnostics diagnostics;
  const auto compilation = compile_with(graph, settings, diagnostics, "searched");
  if (!compilation) return "refused: " + format_diagnostics(diagnostics);
  return fmt::format("{} cycles", totals_of(compilation->program).cycles);
}

std::string key_of(const std::string& line) { return line.substr(0, line.find(' ')); }

/// Values other than SW26010's, by key; what is refused has the code of its diagnostic.
const std::multimap<std::string, std::pair<std::string, std::string>>& other_values() {
  static const std::multimap<std::string, std::pair<std::string, std::string>> values = {
      {"name", {"\"another\"", ""}},
      {"cores.count", {"16", ""}},
      {"cores.count", {"65", "too-many-cores"}},
      {"cores.mesh_rows", {"16", "mesh-too-large"}},
      {"cores.mesh_rows", {"4", "too-many-cores"}},
      {"cores.mesh_columns", {"16", "mesh-too-large"}},
      {"cores.barrier_cycles", {"100000", ""}},
      {"cores.column_broadcast", {"{ start_cycles = 1000, vector_cycles = 50 }", ""}},
      {"cores.column_broadcast", {"{ start_cycles = 11, vector_cycles = 0 }", "out-of-range"}},
      {"dma.row_broadcast", {"false", ""}},
      {"clock_hz", {"2.9e9", ""}},
      {"cores.vector_lanes", {"1", ""}},
      {"cores.vector_lanes", {"2", "unsupported-lanes"}},
      {"cores.vector_lanes", {"7", "unsupported-lanes"}},
      {"cores.vector_lanes", {"8", "unsupported-lanes"}},
      {"cores.vector_lanes", {"16", "unsupported-lanes"}},
      {"cores.vector_flops_per_cycle", {"4", ""}},
      {"cores.vector_flops_per_cycle", {"{ f32 = 4, other = 8 }", ""}},
      {"cores.vector_flops_per_cycle", {"{ f32 = 4 }", "missing-key"}},
      {"cores.vector_flops_per_cycle", {"{ float = 4, other = 8 }", "unknown-key"}},
      {"cores.scalar_flops_per_cycle", {"0.05", ""}},
      {"cores.pipelines",
       {"{ arithmetic_latency = 30, load_latency = 4, divide_cycles = 17, function_cycles = 100 }", ""}},
      {"cores.pipelines", {"{ arithmetic_latency = 0 }", "out-of-range"}},
      {"ldm.bytes", {"16384", ""}},
      {"ldm.reserved", {"57344", ""}},
      {"ldm.alignment", {"1024", ""}},
      {"ldm.alignment", {"4", "alignment-too-small"}},
      {"dma.good_block_bytes", {"64", ""}},
      {"dma.alignment", {"16", ""}},
      {"dma.alignment", {"64", "alignment-too-small"}},
      {"main_memory.bytes", {"100", "main-memory-capacity"}},
      {"management_core.bytes_per_second", {"1e6", ""}},
      {"management_core.cache_bytes", {"1024", ""}},
      {"management_core.function_cycles", {"1000", ""}},
      {"management_core.operations_per_cycle", {"1", ""}},
      {"library.xmath.header", {"\"other.h\"", ""}},
      {"library.xmath.header", {"\"\"", "wrong-name"}},
      {"library.xmath.sgemm", {"\"sgemm_of_another\"", ""}},
      {"library.xmath.sgemm", {"\"a b\"", "wrong-name"}},
      {"library.xmath.link", {"\"-lother\"", ""}},
      {"library.xmath.link", {"\"`x`\"", "wrong-name"}},
      {"library.xmath.call_seconds", {"1e-5", ""}},
      {"library.xmath.efficiency", {"[{ extent = 16, share = 0.5 }]", ""}},
      {"library.xmath.efficiency", {"[]", "out-of-range"}},
      {"main_memory.line_bytes", {"4096", ""}},
      {"main_memory.line_bytes", {"4", "alignment-too-small"}},
      {"dma.startup_cycles", {"10", ""}},
      {"dma.issue_cycles", {"1000", ""}},
      {"dma.core_bytes_per_second", {"1e8", ""}},
      {"cores.launch_seconds", {"0", ""}},
      {"dma.bandwidth", {"[{ block_bytes = 64, bytes_per_second = 1e9 }]", ""}},
      {"dma.bandwidth", {"[]", "out-of-range"}},
  };
  return values;
}

}  // namespace

TEST_CASE("every key of a target is obeyed or refused by name") {
  const std::string as_it_is = outcome({});
  REQUIRE(as_it_is.find("refused") == std::string::npos);
  Diagnostics diagnostics;
  std::istringstream lines(to_toml(*load_target("sw26010", {}, diagnostics)));
  std::string table;
  int keys = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) table = line.substr(1, line.size() - 2) + ".";
    if (line.find(" = ") == std::string::npos || line[0] == ' ') continue;
    const std::string key = table + key_of(line);
    if (key == "summary" || key == "assumed") continue;  // for `stowage targets`
    INFO(key);
    ++keys;
    const auto [from, to] = other_values().equal_range(key);
    REQUIRE(from != to);
    for (auto value = from; value != to; ++value) {
      const auto& [text, code] = value->second;
      INFO(text);
      const std::vector<std::string> setting = {fmt::format("target.{}={}", key, text)};
      const auto with = [&](const std::vector<std::string>& settings) {
        if (key.starts_with("management_core.")) return outcome_without_ldm(settings);
        if (key.starts_with("library.")) return outcome_by_library(settings);
        if (key == "cores.column_broadcast") return outcome_of_product(settings);
        if (key == "cores.scalar_flops_per_cycle") return outcome_of_scalars(settings);
        return settings.empty() ? as_it_is : outcome(settings);
      };
      const std::string got = with(setting);
      CHECK(got != with({}));
      const bool refused = got.starts_with("refused: ");
      CHECK(refused == !code.empty());
      if (refused) CHECK_THAT(got, Catch::Contains("[" + code + "]") && Catch::Contains("'"));
    }
  }
  CHECK(keys == 33);
}

TEST_CASE("a network that main memory does not hold is refused with its numbers") {
  Diagnostics diagnostics;
  const auto fits = compile_with(product_and_pool(), {}, diagnostics);
  REQUIRE(fits);
  const std::int64_t parameters = fits->program.memory.parameter_bytes;
  const std::int64_t activations = fits->program.memory.activation_bytes;
  const auto in_bytes = [](std::int64_t bytes) { return fmt::format("target.main_memory.bytes={}", bytes); };
  CHECK(compile_with(product_and_pool(), {in_bytes(parameters + activations)}, diagnostics));
  CHECK(diagnostics.entries().empty());
  CHECK_FALSE(compile_with(product_and_pool(), {in_bytes(parameters + activations - 1)}, diagnostics));
  CHECK_THAT(
      format_diagnostics(diagnostics),
      Catch::Contains(fmt::format("need {} of main memory, {} for parameters and {} for activations; sw26010 has "
                                  "{} [main-memory-capacity]",
                                  counted(parameters + activations, "byte"), grouped_digits(parameters),
                                  grouped_digits(activations), grouped_digits(parameters + activations - 1))));
}

TEST_CASE("machines of 1, 16, 64 and 256 cores run within their bounds") {
  const auto [cores, rows, columns] =
      GENERATE(table<int, int, int>({{1, 1, 1}, {16, 4, 4}, {64, 8, 8}, {128, 16, 16}, {256, 16, 16}}));
  INFO(cores << " cores of " << rows << " x " << columns);
  Net net;
  const TensorId x = net.input("x", {128, 1});  // 128 parts at most
  const Graph graph = net.unplaced(net.op("Relu", "Relu", {x}));
  Diagnostics diagnostics;
  const auto compilation =
      compile_with(graph,
                   {fmt::format("target.cores.count={}", cores), fmt::format("target.cores.mesh_rows={}", rows),
                    fmt::format("target.cores.mesh_columns={}", columns),
                    // The masks of a broadcast name eight rows.
                    fmt::format("target.dma.row_broadcast={}", rows <= 8)},
                   diagnostics, "swtvm");  // which uses every core that there is
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  CHECK(complaints_of_vendor_headers({&compilation->emitted}) == "");
  const std::int64_t used = compilation->program.steps.at(StepId(0)).plan()->nest.cores_used();
  CHECK(used == std::min(cores, 128));
  std::string sources;
  for (const EmittedFile& file : compilation->emitted.files) sources += file.text;
  // Of a launch with more threads than parts the others leave; Athread starts 64 unless it is told otherwise.
  CHECK((sources.find(fmt::format("if (core >= {}) return;", used)) != std::string::npos) == (used < rows * columns));
  CHECK((sources.find(fmt::format("athread_set_num_threads({});", rows * columns)) != std::string::npos) ==
        (rows * columns != 64));
  CHECK_THAT(sources, Catch::Contains(fmt::format("-cgsp {} ", rows * columns)));
  checked(*compilation, seeded_inputs(graph, 3));  // bounds of every transfer, values, counts
}

TEST_CASE("a machine of one lane gets plain loops, and the right values") {
  const Graph graph = product_and_pool();
  Diagnostics diagnostics;
  const auto compilation = compile_with(graph, {"target.cores.vector_lanes=1"}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  for (const EmittedFile& file : compilation->emitted.files) {
    INFO(file.path);
    CHECK(file.text.find("simd") == std::string::npos);
    CHECK(file.text.find("floatv4") == std::string::npos);
  }
  for (const ProgramStep& step : compilation->program.steps) {
    if (step.plan() == nullptr) continue;
    visit_statements(step.plan()->nest.body, [](const Stmt& stmt) {
      if (const auto* compute = std::get_if<Compute>(&stmt.node)) CHECK(compute->form == ComputeForm::scalar);
    });
    for (const TimeTerm& term : step.plan()->time.terms)
      CHECK(source_of(term.cost) != "target: cores.vector_flops_per_cycle");
  }
  checked(*compilation, seeded_inputs(graph, 3));
}

TEST_CASE("predicted LDM peaks equal the emulated ones at every alignment of buffers") {
  const auto alignment = GENERATE(8, 16, 256, 4096);
  const Graph graph = product_and_pool();
  Diagnostics diagnostics;
  const auto compilation = compile_with(graph, {fmt::format("target.ldm.alignment={}", alignment)}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  checked(*compilation, seeded_inputs(graph, 3));
}

}  // namespace stowage::test
