// SPDX-License-Identifier: Apache-2.0
// Emitted programs in emulation: counts against predictions, outputs of steps, and faults injected into good programs.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <regex>

#include "core/evaluate.h"
#include "core/operators.h"
#include "emitter/emulation/emulate.h"
#include "fusion/facts/views.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/launches.h"
#include "lowering/program/planners.h"
#include "lowering/program/program.h"
#include "tests/emitter/vendor_compile.h"

namespace stowage {
namespace {

/// relu(reshape(A B) + c), every operator a step of its own: two constants, a view, a shared scratch memory.
struct Network {
  Program program;
  std::vector<Tensor> inputs;
  std::vector<Tensor> values;  ///< by step, as the definitions say

  /// `launches` of the kernels: product, sum, maximum; spawned where none is given.
  explicit Network(const std::vector<LaunchedBy>& launches = {}) {
    GraphBuilder builder("network");
    Diagnostics diagnostics;
    const auto append = [&](const std::string& kind, std::vector<std::optional<TensorId>> operands,
                            const Attributes& attributes = {}) {
      const auto id =
          append_operator(builder, kind, kind, attributes, std::move(operands), kind + "_out", {}, {}, diagnostics);
      REQUIRE(id);
      return *id;
    };
    inputs.push_back(filled({40, 36}, 1));
    const TensorId a = builder.add_input("A", ElementType::f32, {40, 36});
    const TensorId b = builder.add_constant("B", filled({36, 100}, 2));
    const TensorId c = builder.add_constant("c", filled({50}, 3));
    const TensorId product = append("MatMul", {a, b});
    const TensorId sum =
        append("Add", {append("Reshape", {product}, {{"shape", std::vector<std::int64_t>{80, 50}}}), c});
    builder.mark_output(append("Relu", {sum}));
    const FusedGraph fused =
        find_strategy("none")->fuse(place_tensors(std::move(builder).build(), {}, 4), {}, nullptr, {});
    const auto target = load_target("sw26010", {}, diagnostics);
    REQUIRE(target);
    auto planned = plan_program(fused, {}, *find_planner("swtvm"), *target, {}, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(planned);
    program = *planned;
    std::size_t kernel = 0;
    for (ProgramStep& step : program.steps) {
      if (step.plan() == nullptr || kernel == launches.size()) continue;
      step.work = launch_of(launched_by(*step.plan(), launches[kernel++], *target));
    }
    evaluate_steps();
  }

  static Tensor filled(Shape shape, int seed) {
    std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(seed) * 11) % 23) / 11.0F - 1.0F;
    return Tensor::of_floats(std::move(shape), numbers);
  }

  void evaluate_steps() {
    const Graph& graph = program.fused.graph;
    std::map<TensorId, Tensor> known{{graph.inputs()[0], inputs[0]}};
    for (const ProgramStep& step : program.steps) {
      const OperatorDefinition definition = define_operator(graph, step.group.operators.front());
      std::vector<Tensor> operands;
      for (const StageTensor& tensor : definition.list.tensors) {
        if (tensor.role != TensorRole::input) continue;
        const auto& constant = graph.tensor(*tensor.source).constant;
        operands.push_back(constant ? *constant : known.at(*tensor.source));
      }
      const IdVector<StageTensorId, Tensor> all = evaluate(definition.list, operands);
      for (const StageTensorId t : all.ids())
        if (definition.list.tensors[t].role == TensorRole::output) known[step.group.results.front().whole] = all[t];
      values.push_back(known.at(step.group.results.front().whole));
    }
  }
};

void check_equal(const Tensor& value, const Tensor& expected) {
  REQUIRE(value.shape() == expected.shape());
  for (std::int64_t i = 0; i < expected.size(); ++i)
    REQUIRE(std::abs(value.as_double(i) - expected.as_double(i)) < 1e-4);
}

EmulationOptions options(EmulationLevel level, bool sanitize) {
  EmulationOptions result;
  result.level = level;
  result.sanitize = sanitize;
  result.seed = 11;
  return result;
}

std::size_t times_in(const std::string& text, const std::string& wanted) {
  std::size_t found = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++found;
  return found;
}

const std::string& file_of(const EmittedProgram& emitted, const std::string& path) {
  for (const EmittedFile& file : emitted.files) {
    if (file.path == path) return file.text;
  }
  FAIL("no file " << path);
  return emitted.files.front().text;
}

TEST_CASE("kernels that begin behind a barrier run in the spawn before them") {
  using enum LaunchedBy;
  const EmittedProgram apart = emit_athread(Network().program);
  const EmittedProgram together = emit_athread(Network({spawn, barrier, barrier}).program);
  const EmittedProgram two = emit_athread(Network({spawn, barrier, spawn}).program);
  CHECK(test::complaints_of_vendor_headers({&apart, &together, &two}) == "");
  CHECK(together.files.size() == apart.files.size() + 1);
  CHECK(times_in(file_of(apart, "layers.c"), "athread_spawn(") == 3);
  CHECK(times_in(file_of(together, "layers.c"), "athread_spawn(") == 1);
  CHECK(times_in(file_of(two, "layers.c"), "athread_spawn(") == 2);
  // Kernels are the same, however they begin.
  for (const EmittedFile& file : apart.files) {
    if (file.path.ends_with(".s.c")) CHECK(file.text == file_of(together, file.path));
  }
  const std::regex hash("(MatMul|Add|Relu)_[0-9a-f]{8}");
  CHECK(std::regex_replace(file_of(together, "kernels_from_MatMul.s.c"), hash, "$1_KERNEL") ==
        R"(/* 3 kernels in one spawn, one after the other, of network network, for sw26010 (fusion , planner swtvm) */
#include "slave.h"
#include "layers_mix.h"
#include "sw_rt.h"

/* A barrier of all cores: a kernel gets from main memory what those before it have put there. */
#ifdef SW_EMULATION /* counts and checks each kernel by itself */
#define NEXT_KERNEL(kernel, para) swemu_next_kernel(SWEMU_SITE, #kernel, (para), sizeof *(para))
#else
#define NEXT_KERNEL(kernel, para) athread_syn(ARRAY_SCOPE, 0xffff)
#endif

void MatMul_KERNEL(void *);
void Add_KERNEL(void *);
void Relu_KERNEL(void *);

void kernels_from_MatMul(void *arg) {
  /* in main memory, from where each kernel gets its own parameters */
  struct kernels_from_MatMul_para *para = (struct kernels_from_MatMul_para *)arg;
  MatMul_KERNEL(&para->layer_MatMul);
  NEXT_KERNEL(Add_KERNEL, &para->layer_Add);
  Add_KERNEL(&para->layer_Add);
  NEXT_KERNEL(Relu_KERNEL, &para->layer_Relu);
  Relu_KERNEL(&para->layer_Relu);
}
)");
}

/// Two barriers between kernels, of which one core comes to the first only: the second kernel of `text` is left out.
TEST_CASE("a core that leaves kernels out is named with those that wait for it") {
  using enum LaunchedBy;
  const Network network({spawn, barrier, barrier});
  EmittedProgram emitted = emit_athread(network.program);
  for (EmittedFile& file : emitted.files) {
    if (file.path != "kernels_from_MatMul.s.c") continue;
    const std::size_t second = file.text.find("  NEXT_KERNEL(Relu");
    REQUIRE(second != std::string::npos);
    file.text.insert(second, "  if (athread_get_id(-1) == 5) return;\n");
  }
  Diagnostics diagnostics;
  CHECK_FALSE(
      emulate(network.program, emitted, network.inputs, options(EmulationLevel::check, false), {}, diagnostics));
  const std::string said = format_diagnostics(diagnostics);
  INFO(said);
  CHECK(
      said.find("63 of 64 cores wait at a barrier of all cores that the other 1 never reach (core 5 has returned): ") !=
      std::string::npos);
  CHECK(said.find("in launch 1: Add") != std::string::npos);
}

TEST_CASE("emulation gives the values of every step and counts exactly what the plan predicts, at every level") {
  using enum LaunchedBy;
  const std::vector<LaunchedBy> launches = GENERATE(
      std::vector{spawn, spawn, spawn}, std::vector{spawn, barrier, barrier}, std::vector{spawn, barrier, spawn});
  const Network network(launches);
  for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
    for (const bool sanitize : {false, true}) {
      INFO("level " << static_cast<int>(level) << ", sanitize " << sanitize);
      const Program program = sanitize ? with_red_zones(network.program) : network.program;
      Diagnostics diagnostics;
      std::size_t seen = 0;
      const auto on_output = [&](StepId step, std::span<const Tensor> stored) {
        const Tensor& value = stored.front();
        REQUIRE(step == StepId(seen));
        check_equal(value, network.values[seen++]);
      };
      const auto result =
          emulate(program, emit_athread(program), network.inputs, options(level, sanitize), on_output, diagnostics);
      INFO(format_diagnostics(diagnostics));
      REQUIRE(result);
      CHECK_FALSE(diagnostics.has_errors());
      CHECK(seen == program.steps.size());
      REQUIRE(result->outputs.size() == 1);
      check_equal(result->outputs.front(), network.values.back());
      std::int64_t fetches = 0;
      std::size_t statements = 0;
      for (const StepId s : program.steps.ids()) {
        if (program.steps[s].plan() == nullptr) {
          CHECK(result->ldm_peak_bytes[s] == 0);
          continue;
        }
        const Plan& plan = *program.steps[s].plan();
        CHECK(result->ldm_peak_bytes[s] == plan.nest.ldm_bytes);
        fetches += plan.nest.cores_used();
        statements += plan.counts.dma.size();
      }
      CHECK(result->parameter_fetches == fetches);
      REQUIRE(result->counts.size() == statements);
      for (const StatementCount& count : result->counts) {
        const Plan& plan = *program.steps[count.step].plan();
        const DmaTotals& predicted = plan.counts.dma.at(count.statement);
        CHECK(count.transfers == predicted.transfers);
        CHECK(count.operations == predicted.operations);
        CHECK(count.bytes == predicted.bytes);
        CHECK(count.bytes > 0);
      }
    }
  }
}

/// Replaces text in the line of the kernel that belongs to the first statement `wanted` says yes to.
struct Injection {
  std::string file;
  int line = 0;
};

Injection inject(const Program& program, EmittedProgram& emitted, const std::function<bool(const Stmt&)>& wanted,
                 const std::string& needle, const std::function<void(std::string& line)>& change) {
  const LoopNest& nest = program.steps.front().plan()->nest;
  for (EmittedFile& file : emitted.files) {
    for (const LineOrigin& origin : file.origins) {
      const Stmt* stmt = find_statement(nest, origin.statement);
      if (stmt == nullptr || !wanted(*stmt)) continue;
      std::size_t begin = 0;
      for (int line = 1; line < origin.line; ++line) begin = file.text.find('\n', begin) + 1;
      const std::size_t end = file.text.find('\n', begin);
      std::string line = file.text.substr(begin, end - begin);
      if (line.find(needle) == std::string::npos) continue;
      change(line);
      file.text.replace(begin, end - begin, line);
      return {file.path, origin.line};
    }
  }
  FAIL("no line to inject a fault into");
  return {};
}

bool is_get(const Stmt& stmt) {
  const auto* dma = std::get_if<Dma>(&stmt.node);
  return dma != nullptr && dma->direction == DmaDirection::get;
}
bool is_put(const Stmt& stmt) {
  const auto* dma = std::get_if<Dma>(&stmt.node);
  return dma != nullptr && dma->direction == DmaDirection::put;
}
bool is_wait(const Stmt& stmt) { return std::holds_alternative<Wait>(stmt.node); }
bool is_compute(const Stmt& stmt) { return std::holds_alternative<Compute>(stmt.node); }

void check_caught(const Program& program, const EmittedProgram& emitted, const std::vector<Tensor>& inputs,
                  const EmulationOptions& how, const std::string& code, const Injection& place) {
  Diagnostics diagnostics;
  CHECK_FALSE(emulate(program, emitted, inputs, how, nullptr, diagnostics));
  INFO(format_diagnostics(diagnostics));
  bool found = false;
  for (const Diagnostic& d : diagnostics.entries())
    found = found || (d.code == code && d.location.file == place.file && d.location.line == place.line);
  INFO("wanted " << code << " at " << place.file << ":" << place.line);
  CHECK(found);
}

TEST_CASE("faults injected into an emitted kernel are reported with their line") {
  const Network network;
  const EmulationOptions check = options(EmulationLevel::check, false);

  SECTION("a wait left out") {
    EmittedProgram emitted = emit_athread(network.program);
    inject(network.program, emitted, is_wait, "dma_wait", [](std::string& line) { line.clear(); });
    const Injection get = inject(network.program, emitted, is_get, "athread_get", [](std::string&) {});
    check_caught(network.program, emitted, network.inputs, check, "emulation-never-awaited", get);
  }
  SECTION("a wait for one operation too many") {
    EmittedProgram emitted = emit_athread(network.program);
    const Injection place = inject(network.program, emitted, is_wait, ");",
                                   [](std::string& line) { line.replace(line.rfind(");"), 2, " + 1);"); });
    check_caught(network.program, emitted, network.inputs, check, "emulation-wait-never-ends", place);
  }
  SECTION("a get that runs out of its tensor") {
    EmittedProgram emitted = emit_athread(network.program);
    const Injection place = inject(network.program, emitted, is_get, "PE_MODE, ",
                                   [](std::string& line) { line.insert(line.find("PE_MODE, ") + 9, "4000 + "); });
    check_caught(network.program, emitted, network.inputs, options(EmulationLevel::count, false),
                 "emulation-dma-out-of-bounds", place);
  }
  SECTION("every core puts the same rows") {
    EmittedProgram emitted = emit_athread(network.program);
    const Injection place = inject(network.program, emitted, is_put, "athread_put", [](std::string& line) {
      const std::size_t target = line.find(", ", line.find("PE_MODE, ") + 9) + 2;
      line.replace(target, line.find(", ", target) - target, "t_MatMul_out");
    });
    check_caught(network.program, emitted, network.inputs, check, "emulation-write-conflict", place);
  }
  SECTION("a read of one element behind a buffer, with the sanitizer") {
    const Program zoned = with_red_zones(network.program);
    for (const BufferId b : {BufferId(0), BufferId(1), BufferId(2)}) {
      const Buffer& buffer = zoned.steps.front().plan()->nest.buffers[b];
      EmittedProgram emitted = emit_athread(zoned);
      const Injection place = inject(zoned, emitted, is_compute, ";", [&](std::string& line) {
        line = "((volatile char *)ldm)[" + std::to_string(buffer.offset + buffer.bytes()) + "]; " + line;
      });
      check_caught(zoned, emitted, network.inputs, options(EmulationLevel::check, true), "emulation-forbidden-access",
                   place);
    }
  }
  SECTION("a buffer larger than the LDM") {
    EmittedProgram emitted = emit_athread(network.program);
    for (EmittedFile& file : emitted.files) {
      const std::size_t at = file.text.find("_ldm {\n");
      if (file.path.ends_with(".s.c") && at != std::string::npos)
        file.text.insert(file.text.find("struct", at + 7), "float more[16384]; ");
    }
    Diagnostics diagnostics;
    CHECK_FALSE(emulate(network.program, emitted, network.inputs, check, nullptr, diagnostics));
    REQUIRE(diagnostics.has_errors());
    CHECK(diagnostics.entries().front().code == "c-compilation-failed");  // SW_CHECK in the kernel
    CHECK(format_diagnostics(diagnostics).find("_all_fits") != std::string::npos);
  }
}

}  // namespace
}  // namespace stowage
