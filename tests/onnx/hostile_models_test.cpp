// SPDX-License-Identifier: Apache-2.0
// Models that are wrong in one way each: whatever the import refuses, it says where, why, and what would be accepted.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/onnx/model_writer.h"
#include "tests/onnx/text_model.h"

namespace stowage::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;

struct Operand {
  Shape shape;
  ElementType type = ElementType::f32;
  std::optional<Ints> value = {};  ///< a constant list of integers
};

/// One node "n" that reads its operands and writes y.
struct Hostile {
  std::string kind;
  std::vector<Operand> operands;
  Attributes attributes = {};
  int opset = 13;
};

Operand list(const Ints& value) { return {{static_cast<std::int64_t>(value.size())}, ElementType::i64, value}; }
Operand whole(const Shape& shape) { return {shape, ElementType::i64, {}}; }
Operand truth(const Shape& shape) { return {shape, ElementType::boolean, {}}; }

const Operand image = {{1, 4, 8, 8}};
const Operand weights = {{6, 4, 3, 3}};

const std::vector<Hostile>& hostile_nodes() {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  static const std::vector<Hostile> nodes = {
      // windows
      {"Conv", {image, weights}, {{"strides", Ints{0, 0}}}},
      {"Conv", {image, weights}, {{"strides", Ints{1}}}},
      {"Conv", {image, weights}, {{"strides", Ints{huge, 1}}}},
      {"Conv", {image, weights}, {{"dilations", Ints{-1, 1}}}},
      {"Conv", {image, weights}, {{"pads", Ints{1, 1}}}},
      {"Conv", {image, weights}, {{"pads", Ints{-1, 0, 0, 0}}}},
      {"Conv", {image, weights}, {{"kernel_shape", Ints{5, 5}}}},
      {"Conv", {image, weights}, {{"group", std::int64_t{0}}}},
      {"Conv", {image, weights}, {{"group", std::int64_t{3}}}},
      {"Conv", {image, weights}, {{"auto_pad", std::string("AROUND")}}},
      {"Conv", {image, weights, {{5}}}},
      {"Conv", {image, {{6, 3, 3, 3}}}},
      {"Conv", {image, {{6, 4}}}},
      {"Conv", {{{4, 8}}, {{6, 4}}}},
      {"Conv", {{{1, 4, 2, 2}}, weights}},
      {"Conv", {whole({1, 4, 8, 8}), whole({6, 4, 3, 3})}},
      {"Conv", {image}},
      {"ConvTranspose", {image, {{4, 6, 3, 3}}}, {{"output_padding", Ints{7, 7}}}},
      {"ConvTranspose", {image, {{4, 6, 3, 3}}}, {{"output_shape", Ints{0, 0}}}},
      {"ConvTranspose", {image, {{4, 6, 3, 3}}}, {{"pads", Ints{9, 9, 9, 9}}}},
      {"ConvTranspose", {image, {{5, 6, 3, 3}}}},
      {"MaxPool", {image}},
      {"MaxPool", {image}, {{"kernel_shape", Ints{3}}}},
      {"MaxPool", {image}, {{"kernel_shape", Ints{0, 3}}}},
      {"MaxPool", {image}, {{"kernel_shape", Ints{9, 9}}}},
      {"AveragePool", {{{4, 8}}}, {{"kernel_shape", Ints{3}}}},
      {"LRN", {image}, {{"size", std::int64_t{0}}}},
      {"LRN", {image}},
      {"BatchNormalization", {image, {{4}}, {{4}}, {{3}}, {{4}}}},
      {"BatchNormalization", {image, {{4}}}},
      // axes and shapes
      {"Softmax", {image}, {{"axis", std::int64_t{4}}}},
      {"Softmax", {image}, {{"axis", -huge}}},
      {"Softmax", {whole({2, 3})}},
      {"Flatten", {image}, {{"axis", std::int64_t{9}}}},
      {"Transpose", {image}, {{"perm", Ints{0, 1, 1, 2}}}},
      {"Transpose", {image}, {{"perm", Ints{0, 1}}}},
      {"Concat", {image, {{1, 4, 7, 8}}}, {{"axis", std::int64_t{1}}}},
      {"Concat", {image, image}},
      {"Concat", {image, whole({1, 4, 8, 8})}, {{"axis", std::int64_t{1}}}},
      {"Reshape", {image, list({3, 3})}},
      {"Reshape", {image, list({-1, -1})}},
      {"Reshape", {image, list({huge, huge})}},
      {"Reshape", {image, list({1, 4, 8, 8, 0})}},
      {"Squeeze", {image, list({1})}},
      {"Squeeze", {image, list({0, 0})}},
      {"Unsqueeze", {image, list({9})}},
      {"Expand", {image, list({2, 4, 8, 9})}},
      {"Expand", {image, list({huge, huge, 8, 8})}},
      {"Slice", {image, list({0}), list({1, 2})}},
      {"Slice", {image, list({0, 0}), list({1, 1}), list({1, 1})}},
      {"Slice", {image, list({0}), list({1}), list({7})}},
      {"Slice", {image, list({0}), list({1}), list({0}), list({0})}},
      {"Split", {image}, {{"axis", std::int64_t{9}}}},
      {"Pad", {image, list({1, 1})}},
      {"Pad", {image, list({-9, 0, 0, 0, 0, 0, 0, 0})}},
      {"Pad", {image, list({huge, 0, 0, 0, huge, 0, 0, 0})}},
      {"Gather", {image, list({9})}, {{"axis", std::int64_t{1}}}},
      {"Gather", {image, image}},
      {"ReduceMean", {image}, {{"axes", Ints{0, 9}}}},
      {"ReduceMean", {image}, {{"axes", Ints{1, 1}}}},
      {"MatMul", {{{2, 3}}, {{4, 5}}}},
      {"MatMul", {{{2, 3}}, {{}}}},
      {"Gemm", {{{2, 3}}, {{4, 5}}}},
      {"Gemm", {{{2, 3, 4}}, {{4, 5}}}},
      {"Add", {image, {{1, 3, 8, 8}}}},
      {"PRelu", {image, {{1, 3, 8, 8}}}},
      {"Where", {truth({1, 5}), image, image}},
      {"Resize", {image}, {}, 11},
      {"Upsample", {image}, {{"scales", Reals{1, 1}}}, 7},
      {"Upsample", {image}, {{"scales", Reals{1, 1, -2, 2}}}, 7},
      {"Tile", {image, list({huge, 1, 1, 1})}},
      // operands and types
      {"Add", {image}},
      {"Relu", {image, image}},
      {"Relu", {truth({2})}},
      {"Add", {image, whole({1, 4, 8, 8})}},
      {"And", {image, image}},
      {"Not", {image}},
      {"Where", {image, image, image}},
      {"Pow", {truth({2}), truth({2})}},
      {"Erf", {whole({2})}},
      {"Cast", {image}, {{"to", std::int64_t{10}}}},
      {"Cast", {image}, {{"to", std::int64_t{99}}}},
      {"Cast", {image}},
      {"Reshape", {image, image}},
      {"Reshape", {image, whole({4})}},
      // attributes
      {"Relu", {image}, {{"slope", 0.1}}},
      {"Softmax", {image}, {{"axes", std::int64_t{1}}}, 21},
      {"Softmax", {image}, {{"axis", 1.5}}, 21},
      {"Concat", {image, image}, {}, 21},
      {"Dropout", {image}, {{"ratio", std::string("half")}}, 12},
      // operators
      {"Foo", {image}},
      {"LSTM", {image, image, image}},
      {"Loop", {image}},
      {"HardSwish", {image}, {}, 13},
      {"LayerNormalization", {image, {{8}}}, {}, 13},
      {"Relu", {image}, {}, 5},
      {"Relu", {image}, {}, 2000},
      {"Relu", {{{std::int64_t{1} << 31}}}},
      {"Relu", {{{huge, huge}}}},
      {"Relu", {{{-3}}}},
      {"Relu", {{Shape(17, 1)}}},
  };
  return nodes;
}

void write(const Hostile& hostile, const std::string& path) {
  ModelWriter model("agraph", hostile.opset, "a hostile model");
  std::vector<std::string> names;
  for (const Operand& operand : hostile.operands) {
    names.push_back(fmt::format("x{}", names.size()));
    if (operand.value) {
      model.add_constant(names.back(), Tensor::of_int64s(operand.shape, *operand.value));
    } else {
      model.add_input(names.back(), operand.type, operand.shape);
    }
  }
  model.add_output("y", ElementType::f32, std::vector<std::string>{"a"});
  model.add_node(hostile.kind, "n", names, {"y"}, hostile.attributes);
  Diagnostics diagnostics;
  REQUIRE(model.save(path, diagnostics));
}

void check_complete(const Diagnostics& diagnostics) {
  CHECK(diagnostics.has_errors());
  for (const Diagnostic& diagnostic : diagnostics.entries()) {
    if (diagnostic.severity != Severity::error) continue;
    INFO(format_diagnostic(diagnostic));
    CHECK_FALSE(diagnostic.code.empty());
    CHECK_FALSE(diagnostic.location.file.empty());
    CHECK_FALSE(diagnostic.remedy.empty());
    // More than what is there: what is wrong with it.
    CHECK(std::count(diagnostic.message.begin(), diagnostic.message.end(), ' ') >= 2);
  }
}

TEST_CASE("every refusal of a hostile node has code, place, reason and remedy", "[onnx][bad]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "model.onnx").string();
  for (const Hostile& hostile : hostile_nodes()) {
    write(hostile, path);
    const ImportOutcome outcome = import_file(path);
    INFO(hostile.kind << " of " << hostile.operands.size() << " operands, opset " << hostile.opset << ", case "
                      << &hostile - hostile_nodes().data());
    CHECK_FALSE(outcome.graph);
    check_complete(outcome.diagnostics);
  }
  CHECK(hostile_nodes().size() >= 100);
}

TEST_CASE("every refusal of a hostile graph has code, place, reason and remedy", "[onnx][bad]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "model.onnx").string();
  const auto refused = [&](const std::function<void(ModelWriter&)>& build) {
    ModelWriter model("agraph", 13, "a hostile model");
    build(model);
    Diagnostics diagnostics;
    REQUIRE(model.save(path, diagnostics));
    const ImportOutcome outcome = import_file(path);
    CHECK_FALSE(outcome.graph);
    check_complete(outcome.diagnostics);
  };
  const auto with_ends = [&](const std::function<void(ModelWriter&)>& build) {
    refused([&](ModelWriter& model) {
      model.add_input("x", ElementType::f32, Shape{2});
      model.add_output("y", ElementType::f32, Shape{2});
      build(model);
    });
  };
  with_ends([](ModelWriter& m) { m.add_node("Relu", "n", {"nothing"}, {"y"}); });
  with_ends([](ModelWriter& m) { m.add_node("Relu", "n", {"x"}, {"z"}); });
  with_ends([](ModelWriter& m) { m.add_node("Relu", "n", {""}, {"y"}); });
  with_ends([](ModelWriter& m) { m.add_node("Relu", "n", {"x"}, {}); });
  with_ends([](ModelWriter& m) { m.add_node("Relu", "n", {"x"}, {"x"}); });
  with_ends([](ModelWriter& m) {
    m.add_node("Relu", "n", {"x"}, {"y"});
    m.add_node("Exp", "m", {"x"}, {"y"});
  });
  with_ends([](ModelWriter& m) {
    m.add_node("Add", "n", {"x", "b"}, {"a"});
    m.add_node("Relu", "m", {"a"}, {"b"});
    m.add_node("Relu", "o", {"x"}, {"y"});
  });
  with_ends([](ModelWriter& m) {
    m.add_input("x", ElementType::f32, Shape{2});
    m.add_node("Relu", "n", {"x"}, {"y"});
  });
  with_ends([](ModelWriter& m) {
    m.add_constant("w", Tensor::of_int64s({1}, Ints{1}));
    m.add_constant("w", Tensor::of_int64s({1}, Ints{1}));
    m.add_node("Relu", "n", {"x"}, {"y"});
  });
  with_ends([](ModelWriter& m) { m.add_node("Relu", "line\nbreak", {"x"}, {"y"}); });
  refused([](ModelWriter& m) {
    m.add_input("x", ElementType::f32, std::vector<std::string>{"batch", "2"});
    m.add_output("y", ElementType::f32, Shape{2});
    m.add_node("Relu", "n", {"x"}, {"y"});
  });
  refused([](ModelWriter& m) {
    m.add_input("x", ElementType::f16, Shape{2});
    m.add_output("y", ElementType::f16, Shape{2});
    m.add_node("Relu", "n", {"x"}, {"y"});
  });
  for (const std::string& bytes : {std::string(), std::string("no model"), std::string("\x08\x07")}) {
    const ImportOutcome outcome = import_file(folder.write("bytes.onnx", bytes));
    check_complete(outcome.diagnostics);
  }
  check_complete(import_file((folder.path() / "missing.onnx").string()).diagnostics);
}

TEST_CASE("what is wrong with an attribute is said with what it may be", "[onnx][bad]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "model.onnx").string();
  write(hostile_nodes()[0], path);
  CHECK(import_file(path).text() ==
        path +
            ": error: node n (Conv): its attribute 'strides' is [0,0], but 0 is too small [invalid-attribute]\n"
            "  help: give entries from 1 to 268435456\n");
}

}  // namespace
}  // namespace stowage::test
