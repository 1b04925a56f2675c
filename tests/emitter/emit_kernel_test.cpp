// SPDX-License-Identifier: Apache-2.0
// Kernels: register blocks of every size, sharing between equal plans, names that C cannot take, lines and statements.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/evaluate.h"
#include "core/operators.h"
#include "emitted_program.h"
#include "emitter/athread/kernel.h"
#include "lowering/ir/rewrite.h"
#include "tests/places.h"

using namespace stowage;

namespace {

using Ints = std::vector<std::int64_t>;
using enum ElementType;

Target sw26010() {
  Target target;
  target.name = "sw26010";
  return target;
}

TensorId append(GraphBuilder& builder, const std::string& kind, const std::string& name, const Attributes& attributes,
                const std::vector<std::optional<TensorId>>& inputs) {
  Diagnostics diagnostics;
  const auto made = append_operator(builder, kind, name, attributes, inputs, name + "_out", {}, {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(made);
  return *made;
}

/// Gives every sum of products the form of register blocks along the last axis, whatever the planner chose.
void force_register_blocks(Program& program) {
  for (ProgramStep& step : program.steps) {
    if (step.plan() == nullptr) continue;
    Plan plan = *step.plan();
    LoopNest& nest = plan.nest;
    nest.body = edited<Compute>(nest.body, [&](const Stmt&, Compute& compute) {
      if (compute.part != Compute::Part::update) return false;
      const std::size_t spatial = nest.stages.stages[compute.stage].spatial;
      compute.form = ComputeForm::register_block;
      if (spatial > 0) compute.lane_axis = VarId(spatial - 1);
      compute.block_axis = VarId(spatial > 2 ? 1U : 0U);  // output channels of a convolution, rows of a product
      return true;
    });
    step.work = launch_of(std::move(plan));
  }
}

const EmittedFile& file_named(const EmittedProgram& emitted, const std::string& path) {
  const auto found = std::find_if(emitted.files.begin(), emitted.files.end(),
                                  [&](const EmittedFile& file) { return file.path == path; });
  REQUIRE(found != emitted.files.end());
  return *found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("register blocks of any height and width give the right numbers") {
  // One core, so that tiles are as large as the operands; 64 cores, so that they end unevenly.
  const int cores = GENERATE(1, 64);
  GraphBuilder builder(fmt::format("register_blocks_{}", cores));
  std::vector<std::vector<std::int64_t>> sizes;
  std::vector<Tensor> expected;
  // {rows, columns, stride}
  for (const Ints& size : std::vector<Ints>{{1, 4, 1},
                                            {2, 5, 1},
                                            {3, 7, 1},
                                            {4, 14, 1},
                                            {5, 16, 1},
                                            {6, 17, 1},
                                            {7, 19, 1},
                                            {8, 20, 1},
                                            {9, 33, 1},
                                            {4, 56, 1},
                                            {1, 49, 1},
                                            {1, 97, 1},
                                            {2, 49, 1},
                                            {3, 60, 1},
                                            {5, 65, 1},
                                            {11, 13, 2},
                                            {4, 16, 2},
                                            {3, 18, 3}}) {
    const std::int64_t rows = size[0];
    const std::int64_t columns = size[1];
    const std::int64_t stride = size[2];
    const std::string name = fmt::format("conv{}x{}s{}", rows, columns, stride);
    const TensorId x = builder.add_input("x_" + name, f32, {1, 3, 5, (columns - 1) * stride + 3});
    const TensorId w = builder.add_input("w_" + name, f32, {rows, 3, 2, 3});
    builder.mark_output(append(builder, "Conv", name, {{"strides", Ints{1, stride}}}, {x, w}));
  }
  for (const Ints& size : std::vector<Ints>{{13, 50}, {4, 64}}) {
    const std::string name = fmt::format("product{}x{}", size[0], size[1]);
    const TensorId a = builder.add_input("a_" + name, f32, {size[0], 21});
    const TensorId b = builder.add_input("b_" + name, f32, {21, size[1]});
    builder.mark_output(append(builder, "MatMul", name, {}, {a, b}));
  }
  Target target = sw26010();
  target.cores.count = cores;
  Program program = fixtures::program_of(std::move(builder).build(), target);
  force_register_blocks(program);
  const auto inputs = fixtures::random_inputs(program, 3);
  fixtures::check_program(program, inputs, fixtures::evaluate_graph(program.fused.graph, inputs));
  // They are register blocks indeed, gathered ones among them.
  std::string all;
  for (const EmittedFile& file : emit_athread(program).files) all += file.text;
  CHECK(all.find("SW_MAS4(acc0, ") != std::string::npos);
  CHECK(all.find("acc00 = simd_vmas(") != std::string::npos);
  if (cores == 1) CHECK(all.find("simd_set_floatv4(") != std::string::npos);
}

TEST_CASE("equal plans share a kernel and others do not") {
  GraphBuilder builder("shared");
  const TensorId x = builder.add_input("x", f32, {4, 40});
  TensorId last = append(builder, "Relu", "first", {}, {x});
  last = append(builder, "Sigmoid", "second", {}, {last});
  last = append(builder, "Relu", "third", {}, {last});
  builder.mark_output(last);
  const TensorId other = builder.add_input("y", f32, {4, 41});
  builder.mark_output(append(builder, "Relu", "fourth", {}, {other}));
  const Program program = fixtures::program_of(std::move(builder).build(), sw26010());
  const EmittedProgram emitted = emit_athread(program);
  REQUIRE(emitted.kernel_of_step.size() == 4);
  CHECK(emitted.kernel_of_step[StepId(0)] == emitted.kernel_of_step[StepId(2)]);
  CHECK(std::set<std::string>(emitted.kernel_of_step.begin(), emitted.kernel_of_step.end()).size() == 3);
  const std::string& text = file_named(emitted, emitted.kernel_of_step[StepId(0)] + ".s.c").text;
  CHECK(text.find("layer_third: ") != std::string::npos);
  const auto inputs = fixtures::random_inputs(program, 4);
  fixtures::check_program(program, inputs, fixtures::evaluate_graph(program.fused.graph, inputs));
}

TEST_CASE("emitted integers wrap around and divide by zero as in the definition") {
  for (const ElementType type : {ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64, ElementType::u8,
                                 ElementType::u16, ElementType::u32, ElementType::u64}) {
    GraphBuilder builder(fmt::format("integers_{}", name_of(type)));
    const TensorId a = builder.add_input("a", type, {49});
    const TensorId b = builder.add_input("b", type, {49});
    for (const char* kind : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow"}) {
      builder.mark_output(append(builder, kind, kind, {}, {a, b}));
    }
    builder.mark_output(append(builder, "Neg", "negative", {}, {a}));
    builder.mark_output(append(builder, "Abs", "absolute", {}, {a}));
    builder.mark_output(append(builder, "ReduceSum", "sum", {{"axes", Ints{0}}}, {a}));
    const Program program = fixtures::program_of(std::move(builder).build(), sw26010());
    const std::uint64_t high = std::uint64_t{1} << (8 * byte_size(type) - 1);
    const std::vector<std::uint64_t> extremes = {0, 1, 3, ~std::uint64_t{0}, high, high - 1, high + 5};
    std::vector<std::byte> left(49 * static_cast<std::size_t>(byte_size(type)));
    std::vector<std::byte> right(left.size());
    for (std::size_t i = 0; i < 49; ++i) {
      const std::size_t at = i * static_cast<std::size_t>(byte_size(type));
      store_element(type, static_cast<std::int64_t>(extremes[i / 7]), &left[at]);
      store_element(type, static_cast<std::int64_t>(extremes[i % 7]), &right[at]);
    }
    const std::vector<Tensor> inputs = {Tensor(type, {49}, left), Tensor(type, {49}, right)};
    const auto expected = fixtures::evaluate_graph(program.fused.graph, inputs);
    const EmittedProgram emitted = emit_athread(program);
    const auto run = fixtures::compile_and_run(program, emitted, inputs, "gcc");
    REQUIRE(run.log == "");
    for (std::size_t o = 0; o < expected.size(); ++o) {
      INFO(name_of(type) << ", " << program.fused.groups[o].name);
      for (std::int64_t i = 0; i < expected[o].size(); ++i) {
        INFO("element " << i);
        CHECK(run.outputs[o].as_int64(i) == expected[o].as_int64(i));
      }
    }
  }
}

TEST_CASE("names that C cannot take are emitted as others") {
  GraphBuilder builder("*/ int");
  TensorId last = builder.add_input("for", f32, {2, 20});
  for (const char* name : {"do", "*/ #error", "/* 3 ?\?/", "ldm", "core", "main", "a\nb\\", "a b", "linux"}) {
    last = append(builder, "Relu", name, {}, {last});
  }
  builder.mark_output(last);
  const Program program = fixtures::program_of(std::move(builder).build(), sw26010());
  const auto inputs = fixtures::random_inputs(program, 5);
  fixtures::check_program(program, inputs, fixtures::evaluate_graph(program.fused.graph, inputs));
}

TEST_CASE("outputs that are views of inputs or of constants are written too") {
  GraphBuilder builder("views");
  const TensorId x = builder.add_input("x", f32, {6, 4});
  const std::vector<float> seven(6, 7.0F);
  const TensorId c = builder.add_constant("c", Tensor::of_floats({6}, seven));
  builder.mark_output(append(builder, "Reshape", "of_input", {{"shape", Ints{24}}}, {x}));
  builder.mark_output(append(builder, "Reshape", "of_constant", {{"shape", Ints{2, 3}}}, {c}));
  const Program program = fixtures::program_of(std::move(builder).build(), sw26010());
  const auto inputs = fixtures::random_inputs(program, 6);
  fixtures::check_program(program, inputs, fixtures::evaluate_graph(program.fused.graph, inputs));
}

TEST_CASE("every transfer, wait and computation of a kernel knows its statement") {
  GraphBuilder builder("origins");
  const TensorId x = builder.add_input("x", f32, {1, 3, 20, 23});
  const TensorId w = builder.add_input("w", f32, {9, 3, 3, 3});
  builder.mark_output(append(builder, "Conv", "conv", {{"pads", Ints{1, 1, 1, 1}}}, {x, w}));
  const Program program = fixtures::program_of(std::move(builder).build(), sw26010());
  const EmittedProgram emitted = emit_athread(program);
  const LoopNest& nest = program.steps[StepId(0)].plan()->nest;
  const EmittedFile& file = file_named(emitted, emitted.kernel_of_step[StepId(0)] + ".s.c");
  const std::vector<std::string> lines = lines_of(file.text);
  std::map<int, StatementId> statement_of;
  for (const LineOrigin& origin : file.origins) {
    CHECK(origin.step == StepId(0));
    CHECK(statement_of.emplace(origin.line, origin.statement).second);
  }
  std::set<StatementId> seen;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(lines[i]);
    const bool call =
        lines[i].find("athread_get(") != std::string::npos || lines[i].find("athread_put(") != std::string::npos;
    const bool wait = lines[i].find("dma_wait(") != std::string::npos;
    if ((!call && !wait) || lines[i].find("reply_para") != std::string::npos) continue;
    const auto found = statement_of.find(static_cast<int>(i) + 1);
    REQUIRE(found != statement_of.end());
    const Stmt* stmt = find_statement(nest, found->second);
    REQUIRE(stmt != nullptr);
    CHECK((call ? std::holds_alternative<Dma>(stmt->node) : std::holds_alternative<Wait>(stmt->node)));
  }
  for (const auto& [line, statement] : statement_of) seen.insert(statement);
  visit_statements(nest.body, [&](const Stmt& stmt) {
    const bool emits = std::holds_alternative<Dma>(stmt.node) || std::holds_alternative<Wait>(stmt.node) ||
                       std::holds_alternative<Fill>(stmt.node) || std::holds_alternative<Compute>(stmt.node);
    INFO("statement " << stmt.id.index());
    CHECK((!emits || seen.contains(stmt.id)));
  });
}

TEST_CASE("what is not emitted yet is refused, not left out") {
  GraphBuilder builder("rows");
  const TensorId x = builder.add_input("x", f32, {64, 64});
  builder.mark_output(append(builder, "Relu", "relu", {}, {x}));
  const Program program = fixtures::program_of(std::move(builder).build(), sw26010());
  LoopNest nest = program.steps.front().plan()->nest;
  CHECK_NOTHROW(canonical_kernel(nest, sw26010()));
  nest.mesh = Mesh{8, 8};
  Broadcast broadcast;
  broadcast.source = broadcast.buffer = BufferUse(BufferId(0));
  nest.body.push_back(std::make_shared<const Stmt>(Stmt{StatementId(1000), broadcast, ""}));
  CHECK_THROWS_WITH(canonical_kernel(nest, sw26010()),
                    Catch::Contains("broadcast 1000 is not emitted: nothing is sent along a row"));
}

TEST_CASE("the emitted kernel of a padded, strided convolution is as written down") {
  GraphBuilder builder("strided");
  const TensorId x = builder.add_input("x", f32, {1, 3, 37, 37});
  const TensorId w = builder.add_input("w", f32, {20, 3, 7, 7});
  builder.mark_output(append(builder, "Conv", "conv", {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}}, {x, w}));
  const Program program = fixtures::program_of(std::move(builder).build(), sw26010());
  const EmittedProgram emitted = emit_athread(program);
  const std::string& text = file_named(emitted, emitted.kernel_of_step[StepId(0)] + ".s.c").text;
  const auto golden = test::source_folder() / "tests/emitter/golden/strided_conv.s.c";
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  std::ifstream in(golden);
  std::stringstream expected;
  expected << in.rdbuf();
  CHECK(text == expected.str());
}

TEST_CASE("a map that reads along a strided axis gathers vectors, and NaN passes its bounds") {
  // 18 and 16 columns: with a rest and without; one core, so that tiles have constant sizes, and 64, so that they do
  // not.
  const int cores = GENERATE(1, 64);
  const std::int64_t columns = GENERATE(16, 18);
  StageList stages;
  stages.tensors = {{"T", f32, {columns, 9}, TensorRole::input, {}, {}},
                    {"B", f32, {9}, TensorRole::input, {}, {}},
                    {"R", f32, {9, columns}, TensorRole::input, {}, {}},
                    {"Y", f32, {9, columns}, TensorRole::output, {}, {}}};
  Stage stage;
  stage.name = "store";
  stage.output = StageTensorId(3);
  stage.axes = {{"c", 9}, {"x", columns}};
  stage.spatial = 2;
  const IndexExpr c = VarId(std::size_t{0});
  const IndexExpr x = VarId(std::size_t{1});
  stage.reads = {{StageTensorId(0), {x, c}, {}}, {StageTensorId(1), {c}, {}}, {StageTensorId(2), {c, x}, {}}};
  const auto number = [](double value) { return scalar_constant(f32, value); };
  const ScalarExpr sum = scalar_read(f32, ReadId(0)) + scalar_read(f32, ReadId(1));
  // Products in every place of a sum and a difference, and a sum that is named twice.
  const ScalarExpr bounded = min(max(sum, number(-0.5)), number(0.75));
  stage.body = (bounded * scalar_read(f32, ReadId(2)) - scalar_read(f32, ReadId(1))) +
               (sum - sum * number(0.25)) / number(3) + scalar_read(f32, ReadId(2)) * number(2);
  stages.stages = {stage};
  Target target = sw26010();
  target.cores.count = cores;
  const Program program = fixtures::program_of("gathered", stages, target);
  const EmittedProgram emitted = emit_athread(program);
  bool gathers = false;
  for (const EmittedFile& file : emitted.files)
    gathers = gathers || file.text.find("simd_vseleqs(simd_vfcmplts(") != std::string::npos;
  CHECK(gathers == (cores == 1));  // 64 cores have less than a vector of columns each, or take rows
  std::vector<Tensor> inputs = fixtures::random_inputs(program, 11);
  const auto values = inputs[0].as<float>();
  std::vector<float> with_special(values.begin(), values.end());
  const std::vector<float> special = {NAN, INFINITY, -INFINITY, -0.0F, 300.0F};
  for (std::size_t i = 0; i < with_special.size(); i += 5) with_special[i] = special[i / 5 % special.size()];
  inputs[0] = Tensor::of_floats(inputs[0].shape(), with_special);
  fixtures::check_program(program, inputs, {evaluate(stages, inputs)[StageTensorId(3)]});
}

TEST_CASE(
    "channels innermost: a depthwise convolution is summed in register blocks, a map unrolled over its channels") {
  const int cores = GENERATE(1, 64);
  StageList stages;
  stages.tensors = {{"T", f32, {2, 7, 9, 8}, TensorRole::input, {}, {}},
                    {"B", f32, {2, 8}, TensorRole::input, {}, {}},
                    {"W", f32, {2, 3, 3, 8}, TensorRole::input, {}, {}},
                    {"M", f32, {2, 7, 9, 8}, TensorRole::intermediate, {}, {}},
                    {"Y", f32, {2, 7, 9, 8}, TensorRole::output, {}, {}}};
  const IndexExpr c = VarId(std::size_t{0});
  const IndexExpr y = VarId(std::size_t{1});
  const IndexExpr x = VarId(std::size_t{2});
  const IndexExpr lane = VarId(std::size_t{3});
  const IndexExpr ry = VarId(std::size_t{4});
  const IndexExpr rx = VarId(std::size_t{5});
  Stage bound;
  bound.name = "bound";
  bound.output = StageTensorId(3);
  bound.axes = {{"c", 2}, {"y", 7}, {"x", 9}, {"lane", 8}};
  bound.spatial = 4;
  bound.reads = {{StageTensorId(0), {c, y, x, lane}, {}}, {StageTensorId(1), {c, lane}, {}}};
  const ScalarExpr sum = scalar_read(f32, ReadId(0)) + scalar_read(f32, ReadId(1));
  bound.body = min(max(sum, scalar_constant(f32, -0.5)), scalar_constant(f32, 0.75));
  Stage depthwise = bound;
  depthwise.name = "depthwise";
  depthwise.output = StageTensorId(4);
  depthwise.axes.push_back({"ry", 3});
  depthwise.axes.push_back({"rx", 3});
  depthwise.reduction = Reduction::sum;
  depthwise.reads = {{StageTensorId(3), {c, y + ry - 1, x + rx - 1, lane}, 0.0},
                     {StageTensorId(2), {c, ry, rx, lane}, {}}};
  depthwise.body = scalar_read(f32, ReadId(0)) * scalar_read(f32, ReadId(1));
  stages.stages = {bound, depthwise};
  Target target = sw26010();
  target.cores.count = cores;
  const Program program = fixtures::program_of("depthwise", stages, target);
  const EmittedProgram emitted = emit_athread(program);
  if (cores == 1) {
    const std::string& text = file_named(emitted, emitted.kernel_of_step[StepId(0)] + ".s.c").text;
    const auto golden = test::source_folder() / "tests/emitter/golden/depthwise.s.c";
    if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
    CHECK(text == fixtures::read_text(golden));
  }
  const std::vector<Tensor> inputs = fixtures::random_inputs(program, 11);
  fixtures::check_program(program, inputs, {evaluate(stages, inputs)[StageTensorId(4)]});
}

TEST_CASE("the start of a sum is set in vectors, and by elements behind the last of them") {
  GraphBuilder builder("filled");
  const TensorId a = builder.add_input("a", f32, {3, 5});
  const TensorId b = builder.add_input("b", f32, {5, 3});  // too narrow for register blocks
  builder.mark_output(append(builder, "MatMul", "product", {}, {a, b}));
  Target target = sw26010();
  target.cores.count = 1;
  const Program program = fixtures::program_of(std::move(builder).build(), target);
  std::string kernel;
  for (const EmittedFile& file : emit_athread(program).files) {
    if (file.path.ends_with(".s.c") && file.path.find("product") != std::string::npos) kernel = file.text;
  }
  INFO(kernel);
  CHECK(kernel.find("for (int i = 0; i < 8; i += 4) simd_store(v_, &((float *)") != std::string::npos);
  CHECK(kernel.find("for (int i = 8; i < 9; i++) ((float *)") != std::string::npos);
  const auto inputs = fixtures::random_inputs(program, 3);
  fixtures::check_program(program, inputs, fixtures::evaluate_graph(program.fused.graph, inputs));
}
