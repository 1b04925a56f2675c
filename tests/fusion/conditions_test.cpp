// SPDX-License-Identifier: Apache-2.0
// What `where` may ask of an operator: every form of condition and every property, held and not held, and every
// mistake.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "fusion/fold/channel_blocks.h"
#include "fusion/templates/constraints.h"
#include "tests/fusion/net.h"
#include "tests/places.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

std::string template_with(const std::string& kinds, const std::string& where) {
  return "[[template]]\nname = \"t\"\n[[template.vertex]]\nname = \"v\"\nrole = \"anchor\"\nkinds = [" + kinds +
         "]\nwhere = { " + where + " }\n";
}

TemplateVertex vertex_with(const std::string& kinds, const std::string& where) {
  Diagnostics diagnostics;
  const auto templates = parse_templates(template_with(kinds, where), "t.toml", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(templates);
  return templates->front().vertices.front();
}

/// The mistake in one condition: its message without the source lines.
std::string mistake(const std::string& kinds, const std::string& where) {
  Diagnostics diagnostics;
  CHECK(!parse_templates(template_with(kinds, where), "t.toml", diagnostics));
  std::string text;
  for (const Diagnostic& entry : diagnostics.entries()) {
    CHECK(entry.location.line == 7);
    CHECK(entry.source_line == "where = { " + where + " }");
    text += entry.code + ": " + entry.message + (entry.remedy.empty() ? "" : " (" + entry.remedy + ")") + "\n";
  }
  return text;
}

/// A convolution of 4 to 8 features, 3x3, stride 2 and its pads; depthwise 5x5; reductions, scalars and readers.
const GraphFacts& facts() {
  static const GraphFacts facts = [] {
    Net net;
    const TensorId x = net.input("x", {1, 4, 8, 8});
    const TensorId c = net.conv("conv", x, 8, 3, 2);
    const TensorId d = net.op("Conv", "depthwise", {c, net.constant("dw", {8, 1, 3, 3})}, {{"group", std::int64_t{8}}});
    const TensorId p = net.op("MaxPool", "pool", {d}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
    const TensorId scaled = net.op("Mul", "scaled", {p, net.value("half", {}, {0.1F})});
    const TensorId mean = net.op("ReduceMean", "mean", {scaled}, {{"axes", std::vector<std::int64_t>{-1, 2}}});
    const TensorId sum = net.op("ReduceSum", "sum", {scaled}, {{"axes", std::vector<std::int64_t>{1}}});
    const TensorId row = net.op("Softmax", "softmax", {scaled}, {{"axis", std::int64_t{3}}});
    return GraphFacts(net.done({mean, sum, row}));
  }();
  return facts;
}

bool fits(const std::string& op, const std::string& kinds, const std::string& where) {
  const TemplateVertex vertex = vertex_with(kinds, where);
  const OpId id = facts().graph.find_operator(op).value();
  const bool accepted = accepts(facts(), vertex, id);
  CHECK(accepted == mismatches(facts(), vertex, id).empty());
  return accepted;
}

std::string why_not(const std::string& op, const std::string& kinds, const std::string& where) {
  std::string text;
  const OpId id = facts().graph.find_operator(op).value();
  for (const Mismatch& one : mismatches(facts(), vertex_with(kinds, where), id)) {
    text += one.name + " wants " + one.wanted + ", is " + one.is + "; ";
  }
  return text;
}

}  // namespace

TEST_CASE("conditions on a convolution are those of its picture as ONNX has it, wherever its channels lie") {
  Net net;
  const TensorId conv = net.conv("conv", net.input("x", {1, 4, 8, 8}), 8, 3);
  const TensorId d =
      net.op("Conv", "depthwise", {conv, net.constant("dw", {8, 1, 3, 3})}, {{"group", std::int64_t{8}}});
  const Graph graph = net.unplaced(net.conv("last", d, 4, 1, 2));
  Target target;
  target.cores.vector_lanes = 4;
  const Graph blocked = block_channels(graph, target, {});
  REQUIRE(blocked.tensor(blocked.find_tensor("depthwise_out").value()).shape.size() == 5);
  for (const GraphFacts& of : {GraphFacts(place_tensors(graph, {}, 4)), GraphFacts(place_tensors(blocked, {}, 4))}) {
    const auto holds_for = [&](const std::string& op, const std::string& where) {
      return accepts(of, vertex_with("\"Conv\"", where), of.graph.find_operator(op).value());
    };
    CHECK(holds_for("depthwise", "depthwise = true, kernel_shape = [3, 3], strides = [1, 1]"));
    CHECK_FALSE(holds_for("depthwise", "depthwise = false"));
    CHECK(holds_for("last", "depthwise = false, kernel_shape = [1, 1], dilations = [1, 1], strides = [2, 2]"));
    CHECK(holds_for("conv", "kernel_shape = [3, 3]"));
  }
}

TEST_CASE("every form of condition holds and does not hold") {
  const auto conv = [](const std::string& where) { return fits("conv", "\"Conv\"", where); };
  CHECK(conv("strides = [2, 2]"));
  CHECK_FALSE(conv("strides = [2, 1]"));
  CHECK_FALSE(conv("strides = [2]"));
  CHECK(conv("strides = 2"));
  CHECK_FALSE(conv("strides = 1"));
  CHECK(conv("kernel_shape = { min = 2, max = 5 }"));
  CHECK_FALSE(conv("kernel_shape = { min = 4 }"));
  CHECK_FALSE(conv("kernel_shape = { max = 2 }"));
  CHECK(conv("kernel_shape = { one_of = [1, [3, 3]] }"));
  CHECK_FALSE(conv("kernel_shape = { one_of = [1, [3, 1]] }"));
  CHECK(conv("kernel_shape = { not = 1 }"));
  CHECK_FALSE(conv("kernel_shape = { not = { one_of = [1, 3] } }"));
  CHECK(conv("shape = [1, '*', { max = 4 }, 4]"));
  CHECK_FALSE(conv("shape = [1, '*', { max = 3 }, 4]"));
  CHECK(conv("type = 'f32', group = 1, depthwise = false"));
  CHECK_FALSE(conv("type = { one_of = ['i8', 'u8'] }"));
  CHECK(conv("type = { not = 'i8' }"));
  CHECK(conv("group = '*'"));
  // An attribute that the operator does not carry meets no condition, whatever it is.
  CHECK_FALSE(conv("auto_pad = '*'"));
  CHECK_FALSE(conv("auto_pad = { not = 'SAME_UPPER' }"));
}

TEST_CASE("every property has its value") {
  CHECK(fits("depthwise", "\"Conv\"", "depthwise = true, group = 8, strides = 1, dilations = [1, 1]"));
  CHECK(fits("pool", "\"MaxPool\"", "kernel_shape = [2, 2], strides = 1, dilations = 1"));
  CHECK(fits("conv", "\"Conv\"", "fan_out = 1, rank = 4, input_shape = [1, 4, 8, 8], shape = [1, 8, 4, 4]"));
  CHECK(fits("scaled", "\"Mul\"", "fan_out = 3, scalar = 0.1"));
  CHECK_FALSE(fits("scaled", "\"Mul\"", "scalar = 0.2"));
  CHECK_FALSE(fits("conv", "\"Conv\"", "scalar = '*'"));
  CHECK(fits("mean", "\"ReduceMean\"", "last_axes = 2"));
  CHECK_FALSE(fits("sum", "\"@reduction\"", "last_axes = '*'"));
  CHECK(fits("softmax", "\"Softmax\"", "last_axes = 1"));
}

TEST_CASE("mismatches say what is wanted and what is") {
  CHECK(why_not("pool", "\"Conv\", \"@element_wise\"",
                "strides = [2, 2], kernel_shape = { min = 3, max = 9, not = 5 }") ==
        "kind wants Conv or @element_wise, is MaxPool; kernel_shape wants 3 to 9 and not 5, is [2,2]; "
        "strides wants [2,2], is [1,1]; ");
  CHECK(why_not("conv", "\"@anchor\"", "last_axes = { one_of = [1, 2] }, shape = ['*', 8, { max = 2 }, 4]") ==
        "last_axes wants 1 or 2, is nothing; shape wants [anything,8,at most 2,4], is [1,8,4,4]; ");
}

TEST_CASE("every mistake in a condition is reported at its place") {
  CHECK(mistake("\"Conv\"", "strides = 'two'") ==
        "wrong-condition: 'strides' is a list of numbers, this can never be equal to it\n");
  CHECK(mistake("\"Conv\"", "depthwise = 1") ==
        "wrong-condition: 'depthwise' is true or false, this can never be equal to it\n");
  CHECK(mistake("\"Conv\"", "group = [1, 2]") ==
        "wrong-condition: 'group' is a number, not a list (one of several values is wanted like this: group = { "
        "one_of = [...] })\n");
  CHECK(mistake("\"Conv\"", "type = 'f33'") == "unknown-word: 'type' is never 'f33' (did you mean 'f32'?)\n");
  CHECK(mistake("\"Conv\"", "group = { min = 5, max = 3 }") == "empty-range: 'group' from 5 to 3 holds no number\n");
  CHECK(mistake("\"Conv\"", "type = { min = 5 }") ==
        "wrong-condition: 'min' of 'type' is a number, and so is what it limits\n");
  CHECK(mistake("\"Conv\"", "group = { mn = 5 }") ==
        "unknown-key: unknown key 'mn' in the condition on 'group' (did you mean 'min'?)\n");
  CHECK(mistake("\"Conv\"", "group = { one_of = [] }") ==
        "wrong-condition: 'one_of' of 'group' is a list of at least one value\n");
  CHECK(mistake("\"Conv\"", "group = {}") == "wrong-condition: the condition on 'group' is empty\n");
  CHECK(mistake("\"Conv\"", "group = 2020-01-01") ==
        "wrong-type: 'template.vertex.where.group' is a date, a truth value, number, string, array or table was "
        "wanted\n");
  CHECK(mistake("\"Conv\"", "group = { not = 2020-01-01 }") ==
        "wrong-type: 'template.vertex.where.group' holds a date, a truth value, number, string, array or table was "
        "wanted\n");
  CHECK(mistake("\"Conv\"", "strides = [1, [2]]") ==
        "wrong-condition: 'strides' is a number, not a list (one of "
        "several values is wanted like this: strides = { one_of = [...] "
        "})\n");
  // A property that no operator of these kinds has is a mistake too, not a vertex that fits nothing.
  CHECK(mistake("\"Relu\"", "kernel_shape = 3") ==
        "unknown-constraint: an operator here has no attribute or property 'kernel_shape' (known are: fan_out, "
        "input_shape, rank, scalar, shape, type)\n");
}

TEST_CASE("docs/templates.md has every property in the table's words") {
  std::ifstream file(test::source_folder() / "docs/templates.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string table = "| property | what it is |\n|---|---|\n";
  for (const PropertyRow& row : property_table()) {
    table += "| `" + std::string(row.name) + "` | " + std::string(row.summary) + " |\n";
  }
  INFO(table);
  CHECK(page.find(table + "\n") != std::string::npos);
}
