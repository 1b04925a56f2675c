// SPDX-License-Identifier: Apache-2.0
// Functions of a model, and operators that ONNX defines by others, are written out on import.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/operators.h"
#include "core/reference/reference.h"
#include "tests/onnx/text_model.h"

namespace stowage::test {
namespace {

/// A graph and functions of the domain "local", each written for an opset.
ImportOutcome import_functions(const std::string& text, int opset = 13) {
  return import_model(text_model(text, opset));
}

std::string local(const std::string& function, int opset = 13) {
  return " <domain: \"local\", opset_import: [\"\" : " + std::to_string(opset) + ", \"local\" : 1]> " + function;
}

std::vector<float> computed(const ImportOutcome& outcome, const std::vector<float>& x) {
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  const Shape shape = outcome.graph->tensor(outcome.graph->inputs()[0]).shape;
  const auto outputs = run_reference(*outcome.graph, std::vector{Tensor::of_floats(shape, x)}, ReferenceMode::plain);
  return {outputs[0].as<float>().begin(), outputs[0].as<float>().end()};
}

}  // namespace

TEST_CASE("functions of a model are written out, with their attributes and names of their own", "[onnx][functions]") {
  const auto outcome = import_functions(
      "g (float[2] x) => (float[2] y) { t = local.twice<factor = 3.0>(x) u = local.twice<factor = -1.0>(t) y = Relu(u) "
      "}" +
      local("twice <factor>(a) => (b) { f = Constant<value_float: float = @factor>() t = Mul(a, f) b = Add(t, t) }"));
  CHECK(computed(outcome, {1, -2}) == std::vector<float>{0, 24});
  CHECK(outline(*outcome.graph).find("Add[twice_1/t,twice_1/t]") != std::string::npos);
  CHECK(outcome.graph->op(OpId(0)).name == "twice_1/Mul_1");
  CHECK(outcome.graph->find_tensor("t").has_value());  // the caller's own
}

TEST_CASE("functions call functions, leave operands out, and hand operands through", "[onnx][functions]") {
  const std::string clip =
      local("limit (a, low) => (b, same) { b = Max(a, low) same = Identity(a) }") +
      local("both (p) => (q, p) { z = Constant<value = float {0}>() m, s = local.limit(p, z) q = Add(m, s) }");
  const auto outcome = import_functions("g (float[2] x) => (float[2] y) { a, b = local.both(x) y = Sub(a, b) }" + clip);
  CHECK(computed(outcome, {1, -2}) == std::vector<float>{1, 0});
  const auto optional =
      import_functions("g (float[2] x) => (float[2] y) { y = local.bound(x) }" +
                       local("bound (a, low) => (b) { h = Constant<value = float {1}>() b = Clip(a, low, h) }"));
  CHECK(computed(optional, {3, -2}) == std::vector<float>{1, -2});
}

TEST_CASE("a function's default attributes are used, and attributes that nobody gives are left out",
          "[onnx][functions]") {
  auto model = text_model("g (float[2] x) => (float[2] y) { y = local.leak(x) }" +
                          local("leak <slope>(a) => (b) { b = LeakyRelu<alpha: float = @slope>(a) }"));
  CHECK(computed(import_model(model), {1, -100}) == std::vector<float>{1, -1});  // LeakyRelu's own default
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.5F);
  auto& function = *model.mutable_functions(0);
  function.mutable_unknown_fields()->AddLengthDelimited(11, slope.SerializeAsString());
  CHECK(computed(import_model(model), {1, -100}) == std::vector<float>{1, -50});
}

TEST_CASE("a function inside a branch reads what is around it, and a branch inside a function too",
          "[onnx][functions]") {
  const auto outcome = import_functions(
      "g (float[2] x) => (float[2] y) { c = Constant<value = bool {1}>() k = Abs(x)"
      " y = If (c) <then_branch = t () => (float[2] r) { r = local.pick(k) }, else_branch = e () => (float[2] r) { r = "
      "Relu(x) }> }" +
      local("pick (k) => (r) { c = Constant<value = bool {0}>() n = Neg(k)"
            " r = If (c) <then_branch = t () => (float[2] o) { o = Relu(n) }, else_branch = e () => (float[2] o) { o = "
            "Add(n, k2) }> k2 = Mul(k, k) }"));
  CHECK(computed(outcome, {3, -2}) == std::vector<float>{6, 2});
}

TEST_CASE("a function keeps the opset that it was written for", "[onnx][functions]") {
  const auto outcome = import_functions(
      "g (float[2,2] x) => (float[2] y) { a = local.sum(x) e = Constant<value = int64[1] {0}>() y = Squeeze(a, e) }" +
          local(
              "sum (a) => (b) { s = ReduceSum<axes = [0]>(a) b = Squeeze<axes = [0]>(s) t = Unsqueeze<axes = [0]>(b) }",
              11),
      13);
  // The function squeezes already: the network's own Squeeze, of opset 13, meets [2] and fails at its own node.
  CHECK_FALSE(outcome.graph);
  CHECK(outcome.text().find("node Squeeze_1 (Squeeze)") != std::string::npos);
  const auto good =
      import_functions("g (float[2,2] x) => (float[2] y) { y = local.sum(x) }" +
                           local("sum (a) => (b) { s = ReduceSum<axes = [0]>(a) b = Squeeze<axes = [0]>(s) }", 11),
                       13);
  CHECK(computed(good, {1, 2, 3, 4}) == std::vector<float>{4, 6});
}

TEST_CASE("functions that cannot be written out are refused", "[onnx][functions]") {
  const std::string graph = "g (float[2] x) => (float[2] y) { y = local.f(x) }";
  const auto recursive =
      import_functions(graph + local("f (a) => (b) { b = local.h(a) }") + local("h (a) => (b) { b = local.f(a) }"));
  CHECK(recursive.codes() == "recursive-function");
  CHECK(recursive.text().find("local::f -> local::h -> local::f") != std::string::npos);
  CHECK(
      import_functions(graph + local("f (a) => (b) { b = Relu(a) }") + local("f (a) => (b) { b = Exp(a) }")).codes() ==
      "duplicate-function");
  CHECK(import_functions("g (float[2] x) => (float[2] y) { y = local.f(x, x) }" + local("f (a) => (b) { b = Relu(a) }"))
            .codes() == "wrong-operand-count");
  // Ten functions that call the next ten times each would be ten thousand million nodes.
  std::string all = graph;
  for (int n = 0; n < 10; ++n) {
    std::string body;
    for (int k = 0; k < 10; ++k) {
      const std::string callee = n == 9 ? "Relu" : "local.f" + std::to_string(n + 1);
      body += (k == 9 ? "b" : "v" + std::to_string(k)) + " = " + callee + "(" +
              (k == 0 ? "a" : "v" + std::to_string(k - 1)) + ") ";
    }
    all += local("f" + (n == 0 ? "" : std::to_string(n)) + " (a) => (b) { " + body + "}");
  }
  CHECK(import_functions(all).codes() == "model-too-large");
  // A chain as long as a file can hold must not become a stack as deep.
  auto chain = text_model("g (float[2] x) => (float[2] y) { y = local.f0(x) }");
  for (int n = 0; n < 20'000; ++n) {
    auto& function = *chain.add_functions();
    function.set_domain("local");
    function.set_name("f" + std::to_string(n));
    function.add_input("a");
    function.add_output("b");
    auto& node = *function.add_node();
    node.set_domain("local");
    node.set_op_type("f" + std::to_string(n + 1));
    node.add_input("a");
    node.add_output("b");
  }
  CHECK(import_model(chain).codes() == "model-too-large");
  const auto missing = import_functions(graph + local("other (a) => (b) { b = Relu(a) }"));
  CHECK(missing.codes() == "custom-domain");
  CHECK(missing.text().find("bring its definition along as a function of the model") != std::string::npos);
}

TEST_CASE("written-out nodes of one name are told for each of them", "[onnx][functions]") {
  auto model = text_model(
      "g (float[1,2,2,1] x) => (float[1,2,2,1] y) { a = MeanVarianceNormalization(x) b = Celu(a) y = Celu(b) }", 14);
  for (auto& node : *model.mutable_graph()->mutable_node()) node.set_name("n");
  const auto outcome = import_model(model);
  INFO(outcome.text());
  CHECK(outcome.codes() == "unsupported-operator");
  CHECK(outcome.text().find("operator Celu: is not supported (2 nodes): ONNX defines it by Elu: ") !=
        std::string::npos);
  CHECK(outcome.text().find("used by n, n\n") != std::string::npos);
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const auto rows = onnx_coverage(folder.write("m.onnx", model.SerializeAsString()), diagnostics);
  REQUIRE(rows);
  REQUIRE(rows->size() == 2);
  CHECK((*rows)[0].operator_name == "Celu");
  CHECK((*rows)[0].nodes == std::vector<std::string>{"n", "n"});
  CHECK_FALSE((*rows)[0].supported);
  CHECK((*rows)[1].operator_name == "MeanVarianceNormalization");
  CHECK((*rows)[1].nodes == std::vector<std::string>{"n"});
  CHECK((*rows)[1].supported);
}

TEST_CASE("operators that ONNX defines by others are written out where Stowage has none", "[onnx][functions]") {
  const auto is_near = [](const std::vector<float>& a, const std::vector<float>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-5));
  };
  REQUIRE(find_operator_row("LogSoftmax") == nullptr);
  for (const int opset : {13, 17, 18, 21}) {
    INFO("opset " << opset);
    is_near(computed(import_text("g (float[1,2] x) => (float[1,2] y) { y = LogSoftmax<axis = 1>(x) }", opset), {0, 1}),
            {-1.3132617F, -0.3132617F});
    is_near(
        computed(import_text("g (float[1,2,2,1] x) => (float[1,2,2,1] y) { y = MeanVarianceNormalization(x) }", opset),
                 {1, 3, 20, 10}),
        {-1, 1, 1, -1});  // for each channel
  }
  // Told by the name that the file gives it, also where what ONNX defines it by is missing.
  const auto celu = import_text("g (float[2] x) => (float[2] y) { y = Celu(x) }");
  INFO(celu.text());
  CHECK(celu.codes() == "unsupported-operator");
  CHECK(celu.text().find("operator Celu: is not supported (1 node): ONNX defines it by Elu: ") != std::string::npos);
  CHECK(celu.text().find("used by Celu_1\n") != std::string::npos);
  CHECK(celu.text().find("onnx.inliner") == std::string::npos);
  const auto unknown = import_text("g (float[2] x) => (float[2] y) { y = Mish(x) }", 18);
  CHECK(unknown.codes() == "unsupported-operator");
  CHECK(unknown.text().find("onnx.inliner.inline_selected_functions(model, [(\"\", \"Mish\")], "
                            "inline_schema_functions=True)") != std::string::npos);
  // ONNX has no body for these, or none of this opset.
  for (const auto& [kind, opset] : {std::pair("Foo", 21), std::pair("Acos", 21), std::pair("Mish", 17)}) {
    const auto other = import_text(fmt::format("g (float[2] x) => (float[2] y) {{ y = {}(x) }}", kind), opset);
    INFO(other.text());
    CHECK(other.text().find("onnx.inliner") == std::string::npos);
    CHECK(other.text().find("make it of other operators") != std::string::npos);
  }
}

}  // namespace stowage::test
