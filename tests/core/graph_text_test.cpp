// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include "core/graph.h"
#include "core/operators.h"

namespace stowage {
namespace {

const std::string small_text = R"(graph small {
  input X f32[1,3,8,8]
  constant W f32[4,3,3,3] hash "2de03ab318b742a5"
  constant b f32[4] = [0.5, -1, 1e-05, inf]
  op conv1: Conv(X, W, b) {pads = [1, 1, 1, 1]} -> y f32[1,4,8,8] from "node one"
  op "relu/1": Relu(y) -> "z:0" f32[1,4,8,8] from "a \"b\"", "c"
  op sum: Add("z:0", "z:0") -> s f32[1,4,8,8]
  output s
  output "z:0"
}
)";

Graph small_graph() {
  GraphBuilder builder("small");
  const TensorId x = builder.add_input("X", ElementType::f32, {1, 3, 8, 8});
  std::vector<float> weights(108);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
  const TensorId w = builder.add_constant("W", Tensor::of_floats({4, 3, 3, 3}, weights));
  const std::vector<float> bias = {0.5F, -1, 1e-5F, std::numeric_limits<float>::infinity()};
  const TensorId b = builder.add_constant("b", Tensor::of_floats({4}, bias));
  const OpId conv = builder.add_operator("Conv", "conv1", {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}, {x, w, b},
                                         "y", ElementType::f32, {1, 4, 8, 8}, {"node one"});
  const OpId relu = builder.add_operator("Relu", "relu/1", {}, {builder.op(conv).first_output()}, "z:0",
                                         ElementType::f32, {1, 4, 8, 8}, {"a \"b\"", "c"});
  const TensorId z = builder.op(relu).first_output();
  const OpId sum = builder.add_operator("Add", "sum", {}, {z, z}, "s", ElementType::f32, {1, 4, 8, 8}, {});
  builder.mark_output(builder.op(sum).first_output());
  builder.mark_output(z);
  return std::move(builder).build();
}

/// Everything that parse_graph needs besides the text.
std::map<std::string, Tensor> constants_of(const Graph& graph) {
  std::map<std::string, Tensor> constants;
  for (const GraphTensor& tensor : graph.tensors()) {
    if (tensor.constant) constants.emplace(tensor.name, *tensor.constant);
  }
  return constants;
}

std::string errors_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto graph = parse_graph(text, diagnostics);
  CHECK_FALSE(graph);
  CHECK(diagnostics.has_errors());
  return format_diagnostics(diagnostics);
}

TEST_CASE("a graph prints one operator a line", "[graph_text]") { CHECK(to_text(small_graph()) == small_text); }

TEST_CASE("a graph's text restores it", "[graph_text]") {
  const Graph graph = small_graph();
  CHECK(verify(graph).value_or("sound") == "sound");
  Diagnostics diagnostics;
  const auto parsed = parse_graph(small_text, diagnostics, constants_of(graph));
  INFO(format_diagnostics(diagnostics));
  REQUIRE(parsed);
  CHECK(to_text(*parsed) == small_text);
  CHECK(verify(*parsed).value_or("sound") == "sound");
  CHECK(parsed->tensor(TensorId(4)).consumers == std::vector<OpId>{OpId(2)});
  CHECK(parsed->op(OpId(1)).origins == std::vector<std::string>{"a \"b\"", "c"});
}

TEST_CASE("constants that are not given come back as zeros", "[graph_text]") {
  Diagnostics diagnostics;
  const auto parsed = parse_graph(small_text, diagnostics);
  REQUIRE(parsed);
  CHECK(parsed->tensor(TensorId(1)).constant->as_double(5) == 0);
  CHECK(parsed->tensor(TensorId(2)).constant->as_double(1) == -1);
}

TEST_CASE("a constant with another value than the text's is refused", "[graph_text]") {
  Diagnostics diagnostics;
  auto constants = constants_of(small_graph());
  constants.insert_or_assign("W", Tensor::of_floats({4, 3, 3, 3}, std::vector<float>(108)));
  CHECK_FALSE(parse_graph(small_text, diagnostics, constants));
  CHECK(format_diagnostics(diagnostics) ==
        "graph:3:32: error: the value given for 'W' is not the one meant [other-value]\n"
        "      constant W f32[4,3,3,3] hash \"2de03ab318b742a5\"\n"
        "                                   ^^^^^^^^^^^^^^^^^^\n");
}

TEST_CASE("every kind of attribute survives", "[graph_text]") {
  GraphBuilder builder("attributes");
  const TensorId x = builder.add_input("X", ElementType::i64, {});
  const auto maximum = std::numeric_limits<std::int64_t>::max();
  const auto least = std::numeric_limits<std::int64_t>::min();
  const Attributes attributes = {{"a", std::int64_t{-3}},
                                 {"b", 2.0},
                                 {"c", std::string("say \"x\" \\\x1b\n\\x41")},
                                 {"d", std::vector<std::int64_t>{least, maximum}},
                                 {"e", std::vector<double>{0.1, -std::numeric_limits<double>::infinity()}},
                                 {"f", std::vector<std::int64_t>{}},
                                 {"g", std::vector<double>{}},
                                 {"h", std::string()}};
  builder.add_operator("Kind", "op", attributes, {std::nullopt, x, std::nullopt}, "_", ElementType::boolean, {0}, {});
  const Graph graph = std::move(builder).build();
  Diagnostics diagnostics;
  const auto parsed = parse_graph(to_text(graph), diagnostics);
  INFO(to_text(graph) << format_diagnostics(diagnostics));
  REQUIRE(parsed);
  CHECK(to_text(*parsed) == to_text(graph));
  CHECK(parsed->op(OpId(0)).attributes == attributes);
  CHECK(parsed->op(OpId(0)).inputs == graph.op(OpId(0)).inputs);
}

TEST_CASE("places inside other tensors survive, and impossible ones are refused", "[graph_text]") {
  const std::string text =
      "graph g {\n  input X f32[2,3]\n  op a: Relu(X) -> a f32[2,3]\n  op b: Concat(X, a) {axis = 1} -> b f32[2,6]\n"
      "  place X in b at 0 strides [6, 1]\n  place a in b at 3 strides [6, 1]\n  output b\n}\n";
  Diagnostics diagnostics;
  const auto parsed = parse_graph(text, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(parsed);
  CHECK(to_text(*parsed) == text);
  CHECK(verify(*parsed).value_or("sound") == "sound");
  const auto error_of = [](const std::string& line) {
    return errors_of("graph g {\n  input X f32[2,3]\n  op a: Relu(X) -> a f32[2,3]\n  input b f32[2,6]\n  " + line +
                     "\n}\n");
  };
  CHECK(error_of("place a in b at 4 strides [6, 1]").find("a does not lie inside b [impossible-place]") !=
        std::string::npos);
  CHECK(error_of("place a in b at 0 strides [2, 1]").find("two elements of a lie at one place") != std::string::npos);
  CHECK(error_of("place a in b at 0 strides [1]").find("a cannot lie in b like that") != std::string::npos);
  CHECK(error_of("place a in a at 0 strides [3, 1]").find("which has no memory of its own") != std::string::npos);
  CHECK(error_of("place a in b at 0 strides [9223372036854775807, 1]").find("at one place") != std::string::npos);
}

TEST_CASE("mistakes in a graph's text are placed", "[graph_text]") {
  CHECK(errors_of("graph g {\n  input X f32[1]\n  input X f32[2]\n  op a: Relu(x) -> y f33[1]\n}\n") ==
        "graph:3:9: error: there is a tensor 'X' already [duplicate-name]\n"
        "      input X f32[2]\n"
        "            ^\n"
        "graph:4:14: error: no tensor 'x' was defined above [unknown-tensor]\n"
        "      op a: Relu(x) -> y f33[1]\n"
        "                 ^\n");
  CHECK(errors_of("graph g {\n  input X f33[1]\n}") ==
        "graph:2:11: error: found 'f33', an element type was wanted [unknown-type]\n"
        "      input X f33[1]\n"
        "              ^^^\n"
        "  help: element types are f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool, f16 and bf16\n");
  CHECK(errors_of("graph g {\n  constant c f32[3] = [1, 2]\n") ==
        "graph:2:23: error: 2 elements are given for shape [3] [bad-shape]\n"
        "      constant c f32[3] = [1, 2]\n"
        "                          ^\n"
        "graph:3:1: error: found the end of the text, '}' was wanted [unexpected-token]\n");
  CHECK(errors_of("graph g {\n  input X f32[1000000000000,1000000000000]\n}") ==
        "graph:2:14: error: shape [1000000000000,1000000000000] has a negative extent or too many elements "
        "[bad-shape]\n"
        "      input X f32[1000000000000,1000000000000]\n"
        "                 ^\n");
  CHECK(errors_of("") == "graph:1:1: error: found the end of the text, 'graph' was wanted [unexpected-token]\n");
}

TEST_CASE("random graphs print, parse and print the same", "[graph_text]") {
  const unsigned seed = 11;
  for (unsigned trial = 0; trial < 200; ++trial) {
    INFO("seed " << seed << ", trial " << trial);
    std::mt19937 random(seed * 1000 + trial);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    GraphBuilder builder(draw(0, 1) == 0 ? "random" : "graph");
    std::vector<TensorId> known = {builder.add_input("x0", ElementType::f32, {4, 8})};
    Diagnostics diagnostics;
    for (int step = 0; step < 12; ++step) {
      const auto pick = [&] {
        return known[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(known.size()) - 1))];
      };
      const std::string name = builder.unique_name(draw(0, 1) == 0 ? "t" : "in/put:0");
      switch (draw(0, 3)) {
        case 0: known.push_back(builder.add_input(name, ElementType::f32, {4, 8})); break;
        case 1: {
          std::vector<float> values(8);
          for (float& value : values) value = std::uniform_real_distribution<float>(-2, 2)(random);
          known.push_back(builder.add_constant(name, Tensor::of_floats({8}, values)));
          break;
        }
        case 2:
          known.push_back(*append_operator(builder, "Add", name, {}, {pick(), pick()}, name, {name}, {}, diagnostics));
          break;
        default:
          known.push_back(*append_operator(builder, "Relu", name, {}, {pick()}, name + "_y", {}, {}, diagnostics));
      }
    }
    builder.mark_output(known.back());
    const Graph graph = std::move(builder).build();
    REQUIRE(verify(graph).value_or("sound") == "sound");
    const std::string text = to_text(graph);
    INFO(text);
    const auto parsed = parse_graph(text, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(parsed);
    REQUIRE(to_text(*parsed) == text);
    REQUIRE(verify(*parsed).value_or("sound") == "sound");
  }
}

TEST_CASE("damaged graph texts are refused or read, never more", "[graph_text]") {
  for (std::size_t length = 0; length < small_text.size(); ++length) {
    Diagnostics diagnostics;
    const auto parsed = parse_graph(small_text.substr(0, length), diagnostics);
    REQUIRE(static_cast<bool>(parsed) != diagnostics.has_errors());
  }
  const unsigned seed = 5;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string alphabet = "{}()[],:=<>+-*/%@#\"\\ \n\t09azXx_.e\x01\xff";
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text = small_text;
    for (int change = 0; change < 1 + trial % 5; ++change) {
      const std::size_t at = random() % text.size();
      const char with = alphabet[random() % alphabet.size()];
      if (trial % 3 == 0) text[at] = with;
      if (trial % 3 == 1) text.insert(at, 1, with);
      if (trial % 3 == 2) text.erase(at, 1 + random() % 9);
    }
    Diagnostics diagnostics;
    const auto parsed = parse_graph(text, diagnostics);
    REQUIRE(static_cast<bool>(parsed) != diagnostics.has_errors());
  }
}

TEST_CASE("an operator with several outputs is read as it is printed", "[graph_text]") {
  const std::string text =
      "graph g {\n  input X f32[2,4]\n  constant s f32[4] = [1, 2, 3, 4]\n"
      "  op norm: LayerNormalization(X, s) -> y f32[2,4], _, d f32[2,1] from \"norm\"\n"
      "  op sum: Add(y, d) -> z f32[2,4]\n  output z\n  output d\n}\n";
  Diagnostics diagnostics;
  const auto graph = parse_graph(text, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(graph);
  CHECK(to_text(*graph) == text);
  CHECK(verify(*graph).value_or("sound") == "sound");
  const Operator& norm = graph->op(OpId(0));
  REQUIRE(norm.outputs.size() == 3);
  CHECK_FALSE(norm.outputs[1]);
  CHECK(outputs_of(norm) == std::vector<TensorId>{*graph->find_tensor("y"), *graph->find_tensor("d")});
  CHECK(readers_of(*graph, OpId(0)) == std::vector<OpId>{OpId(1)});
  CHECK(makes_network_output(*graph, OpId(0)));
  const auto codes = [](const std::string& outputs) {
    Diagnostics found;
    const auto refused =
        parse_graph("graph g { input X f32[2,4] op a: LayerNormalization(X, X) -> " + outputs + " }", found);
    CHECK_FALSE(refused);
    return found.entries().front().code;
  };
  CHECK(codes("y f32[2,4], y f32[2,1]") == "duplicate-name");
  CHECK(codes("y f32[2,4], X f32[2,1]") == "duplicate-name");
}

TEST_CASE("a broken graph is told from a sound one", "[graph_text]") {
  const auto broken = [](const std::string& text) {
    Diagnostics diagnostics;
    const auto graph = parse_graph(text, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(graph);
    return verify(*graph).value_or("sound");
  };
  CHECK(broken("graph g { input X f32[4] op a: Relu(X) -> y f32[4] output y }") == "sound");
  CHECK(broken("graph g { input X f32[4] op a: Relu(X) -> y f32[5] output y }") ==
        "operator a: its output y is f32[5], the operator table says f32[4]");
  CHECK(broken("graph g { input X f32[4] op a: LayerNormalization(X, X) -> y f32[4], m f32[4] output y }") ==
        "operator a: its output m is f32[4], the operator table says f32[1]");
  CHECK(broken("graph g { input X f32[4] op a: Relu(X) -> y f32[4], z f32[4] output y }") ==
        "operator a: Relu has 1 output, 2 were named");
  CHECK(broken("graph g { input X f32[4] op a: Relux(X) -> y f32[4] output y }") ==
        "operator a: there is no operator kind Relux");
}

}  // namespace
}  // namespace stowage
