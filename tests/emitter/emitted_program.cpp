// SPDX-License-Identifier: Apache-2.0
#include "emitted_program.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/check.h"
#include "core/evaluate.h"
#include "core/operators.h"
#include "core/temporary_folder.h"
#include "fusion/facts/views.h"
#include "lowering/nest/lower.h"
#include "lowering/program/plan_group.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/places.h"

namespace stowage::fixtures {
namespace {

/// Adds the tensors of a stage list and one operator to a graph, and names them as sources.
FusedOperator add_group(GraphBuilder& builder, const std::string& name, StageList& stages) {
  FusedOperator group;
  group.name = name;
  group.template_name = "single";
  std::vector<std::optional<TensorId>> inputs;
  const StageTensor* output = nullptr;
  for (StageTensor& tensor : stages.tensors) {
    const bool is_constant = tensor.role == TensorRole::constant && tensor.source.has_value();
    if (is_constant) tensor.source = builder.add_constant(builder.unique_name(tensor.name), tensor.value.value());
    if (tensor.role == TensorRole::input) {
      tensor.source = builder.add_input(builder.unique_name(tensor.name), tensor.type, tensor.shape);
    }
    if (is_constant || tensor.role == TensorRole::input) {
      inputs.emplace_back(*tensor.source);
      group.inputs.push_back(*tensor.source);
    }
    if (tensor.role == TensorRole::output) output = &tensor;
  }
  const OpId op = builder.add_operator("Test", name, {}, inputs, builder.unique_name(output->name), output->type,
                                       output->shape, {name});
  const TensorId result = builder.op(op).first_output();
  builder.mark_output(result);
  for (StageTensor& tensor : stages.tensors) {
    if (tensor.role == TensorRole::output) tensor.source = result;
  }
  group.operators = {op};
  group.roles = {"anchor"};
  group.results = results_of_operator(builder.op(op));
  return group;
}

/// The same as a graph of its own.
FusedGraph graph_of(const std::string& name, StageList& stages) {
  GraphBuilder builder(name);
  FusedOperator group = add_group(builder, name, stages);
  return {std::move(builder).build(), {std::move(group)}};
}

Program finish(FusedGraph fused, Plan plan, const Target& target) {
  Program program;
  program.fused = std::move(fused);
  program.target = target;
  program.fusion = "none";
  program.planner = "swtvm";
  plan.counts = predict_counts(plan.nest);
  program.steps.push_back({program.fused.groups[0], launch_of(std::move(plan))});
  program.memory = plan_memory(program.fused, program.steps, target.main_memory.line_bytes);
  return program;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_bytes(const std::filesystem::path& path, const void* bytes, std::size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
}

Program program_of(const std::string& name, StageList stages, const Target& target, const Schedule& fixed) {
  FusedGraph fused = graph_of(name, stages);
  const SwtvmPlanner planner;
  Scheduled scheduled = planner.complete(name, stages, fixed, target, {});
  if (const auto* refused = std::get_if<Decision>(&scheduled)) fail_check(refused->reason);
  Plan plan;
  plan.schedule = std::get<Schedule>(std::move(scheduled));
  Lowered lowered = lower(name, stages, plan.schedule, target);
  if (const auto* refused = std::get_if<Decision>(&lowered)) fail_check(refused->reason);
  plan.nest = std::get<LoopNest>(std::move(lowered));
  return finish(std::move(fused), std::move(plan), target);
}

Program program_of(const std::string& name, std::vector<StageList> lists, const Target& target,
                   std::vector<std::size_t>& refused, const std::vector<Schedule>& fixed) {
  Program program;
  program.target = target;
  program.fusion = "none";
  program.planner = "swtvm";
  GraphBuilder builder(name);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::string group = fmt::format("{}_{}", name, i);
    const Schedule schedule = fixed.empty() ? Schedule() : fixed[i];
    if (std::holds_alternative<Decision>(plan_group(group, lists[i], schedule, SwtvmPlanner(), target, {}))) {
      refused.push_back(i);
      continue;
    }
    ProgramStep step;
    step.group = add_group(builder, group, lists[i]);
    step.work = launch_of(std::get<Plan>(plan_group(group, lists[i], schedule, SwtvmPlanner(), target, {})));
    program.fused.groups.push_back(step.group);
    program.steps.push_back(std::move(step));
  }
  program.fused.graph = std::move(builder).build();
  program.memory = plan_memory(program.fused, program.steps, target.main_memory.line_bytes);
  return program;
}

Program program_of(Graph graph, const Target& target) {
  graph = place_tensors(graph, {}, 4);
  Program program;
  program.target = target;
  program.fusion = "none";
  program.planner = "swtvm";
  for (std::size_t i = 0; i < graph.operators().size(); ++i) {
    const Operator& op = graph.op(OpId(i));
    const OperatorDefinition definition = define_operator(graph, OpId(i));
    const bool is_view = is_in_place(graph, OpId(i));
    ProgramStep step;
    step.group.name = op.name;
    step.group.template_name = is_view ? "view" : "single";
    step.group.is_view = is_view;
    step.group.operators = {OpId(i)};
    step.group.roles = {is_view ? "view" : "anchor"};
    step.group.results = results_of_operator(op);
    if (!is_view) {
      Plan plan;
      const SwtvmPlanner planner;
      Scheduled scheduled = planner.complete(op.name, definition.list, {}, target, {});
      if (const auto* refused = std::get_if<Decision>(&scheduled)) fail_check(op.name + ": " + refused->reason);
      plan.schedule = std::get<Schedule>(std::move(scheduled));
      Lowered lowered = lower(op.name, definition.list, plan.schedule, target);
      if (const auto* refused = std::get_if<Decision>(&lowered)) fail_check(op.name + ": " + refused->reason);
      plan.nest = std::get<LoopNest>(std::move(lowered));
      plan.counts = predict_counts(plan.nest);
      step.work = launch_of(std::move(plan));
    }
    program.fused.groups.push_back(step.group);
    program.steps.push_back(std::move(step));
  }
  program.fused.graph = std::move(graph);
  program.memory = plan_memory(program.fused, program.steps, target.main_memory.line_bytes);
  return program;
}

Tensor whole_numbers(std::mt19937& random, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 17)) - 8;
  return Tensor::of_floats(shape, values);
}

Program program_of(LoopNest nest, const Target& target) {
  FusedGraph fused = graph_of(nest.name, nest.stages);
  Plan plan;
  plan.nest = std::move(nest);
  return finish(std::move(fused), std::move(plan), target);
}

std::vector<Tensor> random_inputs(const Program& program, unsigned seed, unsigned integers) {
  std::mt19937 random(seed);
  std::vector<Tensor> inputs;
  for (const TensorId id : program.fused.graph.inputs()) {
    const GraphTensor& tensor = program.fused.graph.tensor(id);
    std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(tensor.shape) * byte_size(tensor.type)));
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(byte_size(tensor.type))) {
      const double value = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
      if (is_float(tensor.type)) {
        store_element(tensor.type, value, &bytes[at]);
      } else {
        store_element(tensor.type,
                      static_cast<std::int64_t>(random() % (tensor.type == ElementType::boolean ? 2 : integers)),
                      &bytes[at]);
      }
    }
    inputs.emplace_back(tensor.type, tensor.shape, std::move(bytes));
  }
  return inputs;
}

StubRun compile_and_run(const Program& program, const EmittedProgram& emitted, const std::vector<Tensor>& inputs,
                        const std::string& compiler) {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  std::string sources;
  for (const EmittedFile& file : emitted.files) {
    write_bytes(folder / file.path, file.text.data(), file.text.size());
    if (file.path.ends_with(".c")) sources += " " + file.path;
  }
  const auto parameters = parameter_bytes(program);
  write_bytes(folder / "params.bin", parameters.data(), parameters.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    write_bytes(folder / fmt::format("input_{}.bin", i), inputs[i].bytes().data(), inputs[i].bytes().size());
  }
  const std::string stub = (test::source_folder() / "tests/emitter/stub").string();
  const std::string command = fmt::format(
      "cd '{}' && {{ {} -std=gnu99 -Wall -Wextra -O2 -DSW_EMULATION -DSTUB_CORES={} -I '{}' {} '{}/stub.c' -lm "
      "-o program && ./program; echo status $?; }} > log.txt 2>&1",
      folder.string(), compiler, program.target.cores.mesh_rows * program.target.cores.mesh_columns, stub, sources,
      stub);
  StubRun run;
  check(std::system(command.c_str()) == 0, "no shell");
  run.log = read_text(folder / "log.txt");
  if (run.log == "status 0\n") run.log.clear();
  const auto outputs = program.fused.graph.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const GraphTensor& tensor = program.fused.graph.tensor(outputs[i]);
    const std::string raw = read_text(folder / fmt::format("output_{}.bin", i));
    std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(raw.data()),
                                 reinterpret_cast<const std::byte*>(raw.data() + raw.size()));
    if (static_cast<std::int64_t>(bytes.size()) == element_count(tensor.shape) * byte_size(tensor.type)) {
      run.outputs.emplace_back(tensor.type, tensor.shape, std::move(bytes));
    }
  }
  std::map<std::pair<std::string, int>, LineOrigin> origin;
  for (const EmittedFile& file : emitted.files) {
    for (const LineOrigin& line : file.origins) origin[{file.path, line.line}] = line;
  }
  std::istringstream counts(read_text(folder / "counts.txt"));
  std::string file;
  int line = 0;
  DmaTotals totals;
  while (counts >> file >> line >> totals.transfers >> totals.operations >> totals.bytes) {
    const auto found = origin.find({file, line});
    if (found == origin.end()) continue;  // the parameter struct
    const StepId step = found->second.step;
    DmaTotals& sum = run.counts[{step, found->second.statement}];
    sum.transfers += totals.transfers;
    sum.operations += totals.operations;
    sum.bytes += totals.bytes;
  }
  return run;
}

std::vector<Tensor> evaluate_graph(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> values(graph.tensors().size());
  for (std::size_t t = 0; t < values.size(); ++t) {
    if (graph.tensor(TensorId(t)).constant) values[t] = *graph.tensor(TensorId(t)).constant;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i].index()] = inputs[i];
  for (std::size_t i = 0; i < graph.operators().size(); ++i) {
    const StageList list = define_operator(graph, OpId(i)).list;
    std::vector<Tensor> operands;
    for (const StageTensor& tensor : list.tensors) {
      if (tensor.role == TensorRole::input) operands.push_back(values[tensor.source->index()]);
    }
    const IdVector<StageTensorId, Tensor> all = evaluate(list, operands);
    for (const StageTensorId t : all.ids()) {
      if (list.tensors[t].role == TensorRole::output) values[graph.op(OpId(i)).first_output().index()] = all[t];
    }
  }
  std::vector<Tensor> outputs;
  for (const TensorId id : graph.outputs()) outputs.push_back(values[id.index()]);
  return outputs;
}

void check_program(const Program& program, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected,
                   const std::vector<double>& made_of) {
  const EmittedProgram emitted = emit_athread(program);
  CHECK(test::complaints_of_vendor_headers({&emitted}) == "");
  // Counts of a shared kernel are those of all its steps.
  std::map<std::string, StepId> first_step;
  std::map<std::pair<StepId, StatementId>, DmaTotals> predicted;
  for (const StepId s : program.steps.ids()) {
    if (program.steps[s].plan() == nullptr) continue;
    const StepId first = first_step.emplace(emitted.kernel_of_step[s], s).first->second;
    for (const auto& [id, totals] : program.steps[s].plan()->counts.dma) {
      DmaTotals& sum = predicted[{first, id}];
      sum.transfers += totals.transfers;
      sum.operations += totals.operations;
      sum.bytes += totals.bytes;
    }
  }
  for (const char* compiler : {"gcc", "clang"}) {
    INFO(compiler);
    const StubRun run = compile_and_run(program, emitted, inputs, compiler);
    REQUIRE(run.log == "");
    REQUIRE(run.outputs.size() == expected.size());
    for (std::size_t o = 0; o < expected.size(); ++o) {
      INFO("output " << o << ", " << program.fused.graph.tensor(program.fused.graph.outputs()[o]).name);
      double largest = 0;
      double difference = 0;
      for (std::int64_t i = 0; i < expected[o].size(); ++i) {
        const double wanted = expected[o].as_double(i);
        const double got = run.outputs[o].as_double(i);
        if (got == wanted || (std::isnan(got) && std::isnan(wanted))) continue;
        if (std::isfinite(wanted)) largest = std::max(largest, std::abs(wanted));
        const double apart = std::abs(got - wanted);
        difference = std::isnan(apart) ? HUGE_VAL : std::max(difference, apart);
      }
      INFO("largest " << largest << ", difference " << difference);
      if (!made_of.empty()) largest = std::max(largest, made_of[o]);
      const double tolerance = is_float(expected[o].type()) ? 1e-5 * largest : 0;
      CHECK(difference <= tolerance);
    }
    for (const auto& [place, totals] : predicted) {
      INFO("step " << place.first.index() << " " << program.steps[place.first].group.name << ", statement "
                   << place.second.index());
      const DmaTotals counted = run.counts.contains(place) ? run.counts.at(place) : DmaTotals{};
      CHECK(counted.transfers == totals.transfers);
      CHECK(counted.operations == totals.operations);
      CHECK(counted.bytes == totals.bytes);
    }
  }
}

}  // namespace stowage::fixtures
