// SPDX-License-Identifier: Apache-2.0
// Every operator of the table that is no view, planned by itself, emitted, compiled, run, and compared with the plain
// evaluation of its definition.
#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/operators.h"
#include "emitted_program.h"

using namespace stowage;

namespace {

using Ints = std::vector<std::int64_t>;

struct Operand {
  ElementType type = ElementType::f32;
  Shape shape;
};

struct Case {
  std::string kind;
  Attributes attributes;
  std::vector<Operand> operands;
  bool positive = false;  ///< the first operand is passed through Exp before
};

using enum ElementType;

const std::vector<Case>& cases() {
  static const Operand image{f32, {1, 3, 20, 20}};
  static const Operand small{f32, {2, 5, 7}};
  static const std::vector<Case> all = {
      {"Abs", {}, {small}},
      {"Abs", {}, {{i32, {10}}}},
      {"Add", {}, {small, small}},
      {"Add", {}, {{f32, {4, 1, 6}}, {f32, {5, 1}}}},
      {"Add", {}, {{ElementType::u8, {12}}, {ElementType::u8, {12}}}},
      {"And", {}, {{boolean, {8, 4}}, {boolean, {8, 4}}}},
      {"AveragePool", {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}, {image}},
      {"BatchNormalization", {}, {{f32, {2, 3, 5, 5}}, {f32, {3}}, {f32, {3}}, {f32, {3}}, {f32, {3}}}},
      {"Cast", {{"to", std::string("i64")}}, {small}},
      {"Ceil", {}, {small}},
      {"Clip", {}, {small, {f32, {}}}},
      {"Concat", {{"axis", std::int64_t{1}}}, {{f32, {2, 3, 4}}, {f32, {2, 5, 4}}}},
      {"Conv", {{"pads", Ints{1, 1, 1, 1}}}, {image, {f32, {8, 3, 3, 3}}, {f32, {8}}}},
      {"Conv", {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}}, {{f32, {1, 3, 37, 37}}, {f32, {20, 3, 7, 7}}}},
      {"Conv", {{"dilations", Ints{2, 2}}}, {{f32, {2, 4, 19, 23}}, {f32, {6, 4, 3, 3}}}},
      {"Conv", {{"group", std::int64_t{6}}, {"pads", Ints{1, 1, 1, 1}}}, {{f32, {1, 6, 28, 28}}, {f32, {6, 1, 3, 3}}}},
      {"Conv", {}, {{f32, {1, 64, 14, 14}}, {f32, {70, 64, 1, 1}}}},
      {"Conv", {}, {{f32, {1, 3, 30}}, {f32, {5, 3, 4}}}},
      {"Conv", {{"pads", Ints{1, 1, 1, 1, 1, 1}}}, {{f32, {1, 2, 6, 7, 8}}, {f32, {3, 2, 3, 3, 3}}}},
      {"ConvTranspose",
       {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
       {{f32, {1, 3, 8, 8}}, {f32, {3, 4, 4, 4}}}},
      {"ConvTransposePhases",
       {{"extents", Ints{8, 8}}, {"offsets", Ints{1, 1}}},
       {{f32, {1, 3, 8, 8}}, {f32, {4, 2, 2, 3, 2, 2}}}},
      {"Div", {}, {small, {f32, {2, 5, 7}}}},
      {"Div", {}, {{i32, {9}}, {i32, {9}}}},
      {"Equal", {}, {{i64, {20}}, {i64, {20}}}},
      {"Erf", {}, {small}},
      {"Exp", {}, {small}},
      {"Expand", {{"shape", Ints{3, 4, 5}}}, {{f32, {3, 1, 5}}}},
      {"Floor", {}, {small}},
      {"Gather", {{"axis", std::int64_t{0}}}, {{f32, {2, 9}}, {i64, {3, 2}}}},
      {"Gather", {{"axis", std::int64_t{1}}}, {{f32, {5, 2, 6}}, {i64, {4}}}},
      {"Gemm", {{"transB", std::int64_t{1}}, {"alpha", 0.5}}, {{f32, {9, 40}}, {f32, {33, 40}}, {f32, {33}}}},
      {"GlobalAveragePool", {}, {image}},
      {"GlobalMaxPool", {}, {image}},
      {"Greater", {}, {small, small}},
      {"GreaterOrEqual", {}, {small, small}},
      {"HardSigmoid", {}, {small}},
      {"HardSwish", {}, {small}},
      {"InvStdDev", {}, {small}},
      {"LRN", {{"size", std::int64_t{3}}}, {{f32, {1, 7, 6, 6}}}},
      {"LayerNormalization", {}, {{f32, {4, 48}}, {f32, {48}}, {f32, {48}}}},
      {"LeakyRelu", {}, {small}},
      {"Less", {}, {small, small}},
      {"LessOrEqual", {}, {small, small}},
      {"Log", {}, {small}, true},
      {"MatMul", {}, {{f32, {2, 3, 17, 20}}, {f32, {3, 20, 33}}}},
      {"Max", {}, {small, small, small}},
      {"MaxPool", {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}, {image}},
      {"Min", {}, {small, small}},
      {"Mul", {}, {small, {f32, {7}}}},
      {"Neg", {}, {{ElementType::i8, {40}}}},
      {"Not", {}, {{boolean, {16}}}},
      {"Or", {}, {{boolean, {3, 4}}, {boolean, {1, 4}}}},
      {"PRelu", {}, {small, {f32, {5, 1}}}},
      {"Pad", {{"pads", Ints{0, 1, 2, 0, 1, 3}}, {"value", 1.5}}, {small}},
      {"Pad", {{"pads", Ints{0, 1, 2, 0, 1, 3}}, {"mode", std::string("reflect")}}, {small}},
      {"Pow", {}, {small, {f32, {}}}, true},
      {"Pow", {}, {{i32, {9}}, {i32, {9}}}},
      {"ReduceMax", {{"axes", Ints{1}}}, {small}},
      {"ReduceMean", {{"axes", Ints{0, 2}}, {"keepdims", std::int64_t{0}}}, {small}},
      {"ReduceSum", {}, {small}},
      {"Relu", {}, {{f32, {1, 64, 56, 56}}}},
      {"Resize", {{"scales", std::vector<double>{1, 1, 2, 2}}}, {{f32, {1, 2, 5, 6}}}},
      {"Resize",
       {{"scales", std::vector<double>{1, 1, 1.5, 2}}, {"mode", std::string("linear")}},
       {{f32, {1, 2, 5, 6}}}},
      {"Sigmoid", {}, {small}},
      {"Slice", {{"starts", Ints{3, 1}}, {"ends", Ints{0, 6}}, {"axes", Ints{1, 2}}, {"steps", Ints{-1, 2}}}, {small}},
      {"Softmax", {}, {{f32, {6, 50}}}},
      {"Softmax", {{"axis", std::int64_t{1}}}, {small}},
      {"Sqrt", {}, {small}, true},
      {"Sub", {}, {small, small}},
      {"Sum", {}, {small, small, small}},
      {"Tanh", {}, {small}},
      {"Transpose", {{"perm", Ints{2, 0, 1}}}, {small}},
      {"Transpose", {}, {{f32, {70, 90}}}},
      {"Where", {}, {{boolean, {5, 7}}, small, small}},
  };
  return all;
}

TensorId append(GraphBuilder& builder, const std::string& kind, const Attributes& attributes,
                const std::vector<std::optional<TensorId>>& inputs) {
  Diagnostics diagnostics;
  const auto made = append_operator(builder, kind, kind, attributes, inputs, kind + "_out", {}, {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(made);
  return *made;
}

void add_case(GraphBuilder& builder, const Case& c, std::size_t number) {
  std::vector<std::optional<TensorId>> inputs;
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    TensorId operand = builder.add_input(fmt::format("in{}_{}", number, i), c.operands[i].type, c.operands[i].shape);
    if (i == 0 && c.positive) operand = append(builder, "Exp", {}, {operand});
    inputs.emplace_back(operand);
  }
  builder.mark_output(append(builder, c.kind, c.attributes, inputs));
}

}  // namespace

TEST_CASE("emitted operators agree with their definitions, in numbers and counts") {
  // Several cases a program: compilers take longer to start than to compile.
  constexpr std::size_t cases_a_program = 10;
  const auto part = static_cast<std::size_t>(GENERATE(range(0, 8)));
  GraphBuilder builder(fmt::format("operators_{}", part));
  for (std::size_t i = part * cases_a_program; i < std::min(cases().size(), (part + 1) * cases_a_program); ++i) {
    add_case(builder, cases()[i], i);
  }
  Target target;
  target.name = "sw26010";
  const Program program = fixtures::program_of(std::move(builder).build(), target);
  const auto inputs = fixtures::random_inputs(program, 7);
  fixtures::check_program(program, inputs, fixtures::evaluate_graph(program.fused.graph, inputs));
}

TEST_CASE("NaN and infinities take the way through emitted operators that the definitions say") {
  const Operand image{f32, {1, 2, 20, 20}};
  const Attributes window = {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}};
  const std::vector<Case> with_special_values = {
      {"Relu", {}, {image}},
      {"Clip", {{"min", 0.0}, {"max", 6.0}}, {image}},
      {"Clip", {}, {image, {f32, {}}, {f32, {}}}},
      {"Max", {}, {image, {f32, {2, 20, 20}}}},
      {"Min", {}, {image, {f32, {2, 20, 20}}}},
      {"MaxPool", window, {image}},
      {"ReduceMax", {{"axes", Ints{2}}}, {image}},
      {"LeakyRelu", {{"alpha", 0.25}}, {image}},
      {"Cast", {{"to", std::string("i32")}}, {image}},
      {"Cast", {{"to", std::string("u8")}}, {image}},
  };
  GraphBuilder builder("special_values");
  for (std::size_t i = 0; i < with_special_values.size(); ++i) add_case(builder, with_special_values[i], i);
  Target target;
  target.name = "sw26010";
  const Program program = fixtures::program_of(std::move(builder).build(), target);
  std::vector<Tensor> inputs = fixtures::random_inputs(program, 7);
  const std::vector<float> special = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F, 1e-42F, 300.0F, -2.5F, 3e9F};
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (inputs[input].shape().empty()) continue;  // the bounds of Clip
    const auto values = inputs[input].as<float>();
    std::vector<float> with_special(values.begin(), values.end());
    // Not the same of two operands at a place, and many places without.
    for (std::size_t i = 0; i < with_special.size(); i += 3 + input % 2)
      with_special[i] = special[i / 3 % special.size()];
    inputs[input] = Tensor::of_floats(inputs[input].shape(), with_special);
  }
  fixtures::check_program(program, inputs, fixtures::evaluate_graph(program.fused.graph, inputs));
}

TEST_CASE("every operator of the table is emitted by a test") {
  std::set<std::string> tested;
  for (const Case& c : cases()) tested.insert(c.kind);
  constexpr std::size_t cases_a_program = 10;
  CHECK(cases().size() <= 8 * cases_a_program);
  // Views move nothing.
  const std::set<std::string> views = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  for (const OperatorRow& row : operator_table()) {
    INFO(row.name);
    CHECK((tested.contains(std::string(row.name)) || views.contains(std::string(row.name))));
  }
}
