// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "run_operator.h"
#include "tests/places.h"

using namespace stowage;

namespace {

/// The operator table as docs/operators.md shows it.
std::string table_text() {
  std::string text;
  for (const OperatorRow& row : operator_table()) {
    std::string operands;
    for (std::size_t slot = 0; slot < row.operands.size(); ++slot) {
      const bool is_optional = slot >= static_cast<std::size_t>(row.required_operands) && row.operands[slot] != "…";
      operands += (slot == 0 ? "" : ", ") + std::string(row.operands[slot]) + (is_optional ? "?" : "");
    }
    std::string results;
    for (std::size_t slot = 0; row.results.size() > 1 && slot < row.results.size(); ++slot) {
      results += (slot == 0 ? " → " : ", ") + std::string(row.results[slot]) + (slot == 0 ? "" : "?");
    }
    text += "**" + std::string(row.name) + "**(" + operands + ")" + results + ": " + std::string(row.summary) + "\n\n";
    for (const AttributeRow& attribute : row.attributes) {
      text += "* `" + std::string(attribute.name) + "` " + std::string(attribute.type) +
              (attribute.required ? ", required: " : ": ") + std::string(attribute.summary) + "\n";
    }
    if (!row.attributes.empty()) text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("every operator has a definition, a summary and a test tagged with its name") {
  std::set<std::string> tags;
  for (const Catch::TestCase& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    tags.insert(test.tags.begin(), test.tags.end());
  }
  for (const OperatorRow& row : operator_table()) {
    INFO(row.name);
    CHECK(tags.contains(std::string(row.name)));
    CHECK(row.define != nullptr);
    CHECK_FALSE(row.summary.empty());
    CHECK_FALSE(row.operands.empty());
    for (const AttributeRow& attribute : row.attributes) {
      INFO(attribute.name);
      CHECK_FALSE(attribute.summary.empty());
      CHECK(std::set<std::string_view>{"int", "float", "string", "ints", "floats"}.contains(attribute.type));
    }
  }
}

TEST_CASE("the operator table is sorted and found by name") {
  const auto rows = operator_table();
  CHECK(std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const OperatorRow& row : rows) CHECK(find_operator_row(row.name) == &row);
  CHECK(find_operator_row("NoSuchOperator") == nullptr);
}

TEST_CASE("an operator that is not there is refused with the nearest name") {
  CHECK(test::refusal("Convv", {}, {test::counting({1})}) == "[unknown-operator] there is no operator Convv");
}

TEST_CASE("half precision is refused by name, and every mistake is reported") {
  const Tensor half = Tensor(ElementType::f16, {1}, std::vector<std::byte>(2));
  CHECK(test::refusal("LeakyRelu", {{"alpha", std::int64_t{1}}, {"beta", 1.0}}, {half, half}) ==
        "[too-many-operands] LeakyRelu takes 1 operands, 2 were given\n"
        "[unsupported-element-type] LeakyRelu of f16 elements\n"
        "[bad-attribute] attribute alpha of LeakyRelu is int, float was wanted\n"
        "[unknown-attribute] LeakyRelu has no attribute beta");
}

TEST_CASE("append_operator derives type and shape, and makes names unique") {
  GraphBuilder builder("g");
  Diagnostics diagnostics;
  const TensorId x = builder.add_input("x", ElementType::f32, {2, 3});
  const TensorId w = builder.add_constant("w", test::counting({3, 4}));
  const auto y = append_operator(builder, "MatMul", "mm", {}, {x, w}, "y", {"node"}, {}, diagnostics);
  const auto z = append_operator(builder, "Cast", "mm", {{"to", "i32"}}, {*y}, "y", {"node"}, {}, diagnostics);
  CHECK(builder.tensor(*y).shape == Shape{2, 4});
  CHECK(builder.tensor(*z).name == "y_2");
  CHECK(builder.tensor(*z).type == ElementType::i32);
  CHECK_FALSE(append_operator(builder, "MatMul", "bad", {}, {w, x}, "bad", {}, {}, diagnostics));
  CHECK(diagnostics.entries().size() == 1);
  const Graph graph = std::move(builder).build();
  CHECK(graph.op(OpId(1)).name == "mm_2");

  const OperatorDefinition definition = define_operator(graph, OpId(0));
  CHECK(definition.list.tensors[StageTensorId(0)].role == TensorRole::input);
  CHECK(definition.list.tensors[StageTensorId(0)].source == x);
  CHECK(definition.list.tensors[StageTensorId(1)].role == TensorRole::constant);
  CHECK(definition.list.tensors[StageTensorId(1)].value.has_value());
  CHECK(definition.list.tensors[StageTensorId(2)].source == *y);
}

TEST_CASE("sizes beyond reason are refused, not computed") {
  const StageTensor huge{"x", ElementType::f32, {std::int64_t{1} << 62}, TensorRole::input, {}, {}};
  Operator op;
  op.kind = "Relu";
  Diagnostics diagnostics;
  CHECK_FALSE(define_operator(op, std::vector<std::optional<StageTensor>>{huge}, {}, diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries()[0].code == "tensor-too-large");
}

TEST_CASE("docs/operators.md shows the table as it is") {
  const std::string path = test::source_folder().string() + "/docs/operators.md";
  std::ifstream in(path);
  std::string document((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string heading = "## The table\n\n";
  const std::size_t at = document.find(heading);
  REQUIRE(at != std::string::npos);
  const std::string wanted = document.substr(0, at + heading.size()) +
                             "A `?` marks operands and outputs that may be absent.\n\n" + table_text();
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr && document != wanted) {
    std::ofstream(path) << wanted;
    document = wanted;
  }
  CHECK(document == wanted);
}
