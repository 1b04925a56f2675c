// SPDX-License-Identifier: Apache-2.0
// How models become graphs: names, folding, dimensions and bindings.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/onnx/import_rows.h"
#include "core/operators.h"
#include "core/reference/reference.h"
#include "tests/onnx/text_model.h"

namespace stowage::test {
namespace {

Tensor ints(const std::vector<std::int64_t>& values) {
  return Tensor::of_int64s({static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("every row of the import table leads to an operator that exists", "[onnx]") {
  std::string last;
  for (const auto& row : onnx_import::import_table()) {
    INFO(row.name << " since " << row.since);
    CHECK((row.kind.empty() || find_operator_row(row.kind) != nullptr));
    CHECK(row.operands.least <= row.operands.maximum);
    const std::string key = fmt::format("{} {:3}", row.name, row.since);
    CHECK(last < key);
    last = key;
  }
}

TEST_CASE("a network keeps its names, and nodes without one are called after kind and number", "[onnx]") {
  auto model = text_model("net (float[2] x) => (float[2] y) { a = Relu(x) b = Exp(a) c = Relu(b) y = Add(a, c) }");
  model.mutable_graph()->mutable_node(1)->set_name("grow");
  const auto outcome = import_model(model);
  REQUIRE(outcome.graph);
  const Graph& graph = *outcome.graph;
  CHECK(graph.name() == "net");
  std::string names;
  for (const Operator& op : graph.operators()) names += op.name + " ";
  CHECK(names == "Relu_1 grow Relu_2 Add_1 ");
  CHECK(outline(graph) == "Relu[x] Exp[a] Relu[b] Add[a,c]");
  CHECK(graph.tensor(graph.outputs()[0]).name == "y");
  CHECK(graph.operators()[1].origins == std::vector<std::string>{"grow"});
}

TEST_CASE("several outputs of constants are folded away", "[onnx][fold]") {
  const auto outcome = import_text(
      "g (float[1,1,1,1] x, int64[1,1,1,1] k) => (float[1,1,1,1] y, int64[1,1,1,1] j) {"
      " c = Constant<value = float[1,1,2,2] {1, 2, 4, 3}>() m, i = MaxPool<kernel_shape = [2,2]>(c)"
      " y = Add(x, m) j = Add(k, i) }");
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  CHECK(outline(*outcome.graph) == "Add[x,m] Add[k,i]");
  CHECK(outcome.graph->tensor(outcome.graph->find_tensor("m").value()).constant.value().as_double(0) == 4);
  CHECK(outcome.graph->tensor(outcome.graph->find_tensor("i").value()).constant.value().as_int64(0) == 2);
}

TEST_CASE("shape computations are folded away", "[onnx][fold]") {
  const auto outcome = import_text(
      "g (float[2,3,4] x) => (float y) {"
      " s = Shape(x) i = Constant<value = int64 {0}>() b = Gather(s, i) z = Constant<value = int64[1] {0}>()"
      " u = Unsqueeze(b, z) m = Constant<value = int64[1] {-1}>() t = Concat<axis = 0>(u, m) y = Reshape(x, t) }");
  CHECK(outline(*outcome.graph) == "Reshape[x]");
  CHECK(output_shape(outcome) == Shape{2, 12});
}

TEST_CASE("constant operators are folded to the values that the reference executor computes", "[onnx][fold]") {
  constexpr const char* graph =
      "g ({}float[2] x) => (float[2,2] y) {{ {} r = Transpose(w) d = Sub(r, e) q = Sqrt(d) z = Exp(q) y = Add(x, z) }}";
  const auto folded = import_text(fmt::format(
      fmt::runtime(graph), "", "w = Constant<value = float[2,2] {1, 2, 3, 4}>() e = Constant<value = float {0.5}>()"));
  REQUIRE(folded.graph);
  CHECK(outline(*folded.graph) == "Add[x,z]");
  const auto unfolded = import_text(fmt::format(fmt::runtime(graph), "float[2,2] w, float e, ", ""));
  REQUIRE(unfolded.graph);
  CHECK(unfolded.graph->operators().size() == 5);
  const std::vector<float> x = {10, 20};
  const std::vector<float> w = {1, 2, 3, 4};
  const float e = 0.5F;
  const std::vector<Tensor> few = {Tensor::of_floats({2}, x)};
  const std::vector<Tensor> all = {Tensor::of_floats({2, 2}, w), Tensor::of_floats({}, std::span(&e, 1)), few[0]};
  const auto a = run_reference(*folded.graph, few, ReferenceMode::plain);
  const auto b = run_reference(*unfolded.graph, all, ReferenceMode::plain);
  for (std::int64_t i = 0; i < 4; ++i) CHECK(a[0].as_double(i) == b[0].as_double(i));
}

TEST_CASE("folding that would blow a constant up is left to the run", "[onnx][fold]") {
  const auto outcome = import_text(
      "g (float[1] x) => (float y) { w = Constant<value = float[1] {3}>() s = Constant<value = int64[2] {8192, 4096}>()"
      " e = Expand(w, s) y = Add(x, e) }");
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  CHECK(outline(*outcome.graph) == "Expand[w] Add[x,e]");
}

TEST_CASE("Range, Size, NonZero and ConstantOfShape are computed on import", "[onnx][fold]") {
  const auto constant_of = [](const std::string& body) {
    const auto outcome = import_text(fmt::format("g (int64[1] x) => (int64 y) {{ {} y = Add(x, c) }}", body));
    INFO(outcome.text());
    REQUIRE(outcome.graph);
    const auto id = outcome.graph->find_tensor("c");
    REQUIRE(id);
    return outcome.graph->tensor(*id).constant.value().to_int64s();
  };
  const std::string numbers =
      "a = Constant<value_int = 7>() b = Constant<value_int = 0>() s = Constant<value_int = -3>() ";
  CHECK(constant_of(numbers + "c = Range(a, b, s)") == std::vector<std::int64_t>{7, 4, 1});
  CHECK(constant_of(numbers + "c = Range(b, s, a)").empty());
  CHECK(constant_of("w = Constant<value = float[2,3] {0,0,0,0,0,0}>() c = Size(w)") == std::vector<std::int64_t>{6});
  CHECK(constant_of("w = Constant<value = float[2,2] {0,5,0,6}>() n = NonZero(w) z = Constant<value = int64 {1}>() c = "
                    "Gather(n, z)") == std::vector<std::int64_t>{1, 1});
  CHECK(constant_of("s = Constant<value_ints = [3]>() c = ConstantOfShape<value = int64[1] {4}>(s)") ==
        std::vector<std::int64_t>{4, 4, 4});
}

TEST_CASE("a branch whose condition is known is taken, another is refused", "[onnx][fold]") {
  const std::string body =
      "c = Constant<value = bool {{{}}}>()"
      " y = If (c) <then_branch = t () => (float[2] a) {{ a = Relu(x) }}, else_branch = e () => (float[2] b) {{ b = "
      "Exp(x) }}>";
  const auto taken = [&](int condition) {
    const auto outcome =
        import_text(fmt::format(fmt::runtime("g (float[2] x) => (float[2] y) {{ " + body + " }}"), condition));
    INFO(outcome.text());
    REQUIRE(outcome.graph);
    return outline(*outcome.graph);
  };
  CHECK(taken(1).starts_with("Relu[x]"));
  CHECK(taken(0).starts_with("Exp[x]"));
  const auto open = import_text(
      "g (float[2] x, bool c) => (float[2] y) {"
      " y = If (c) <then_branch = t () => (float[2] a) { a = Relu(x) }, else_branch = e () => (float[2] b) { b = "
      "Exp(x) }> }");
  CHECK(open.codes() == "run-time-shape");
}

TEST_CASE("network outputs that are constants, inputs or aliases are made by an Identity", "[onnx]") {
  const auto outcome = import_text(
      "g (float[2] x) => (float[2] y, float[2] z, float[1] w) { a = Relu(x) y = Identity(a) z = Identity(x)"
      " w = Constant<value = float[1] {4}>() }");
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  CHECK(outline(*outcome.graph) == "Relu[x] Identity[a] Identity[x] Identity[w/constant]");
  std::string outputs;
  for (const TensorId id : outcome.graph->outputs()) outputs += outcome.graph->tensor(id).name + " ";
  CHECK(outputs == "y z w ");
}

TEST_CASE("a network output keeps its name even where an operator has the same", "[onnx]") {
  auto model = text_model("g (float[2] x) => (float[2] y) { a = Relu(x) y = Exp(a) }");
  model.mutable_graph()->mutable_node(0)->set_name("y");
  const auto outcome = import_model(model);
  REQUIRE(outcome.graph);
  CHECK(outcome.graph->tensor(outcome.graph->outputs()[0]).name == "y");
}

TEST_CASE("operators that no output depends on are dropped", "[onnx][fold]") {
  const auto outcome = import_text(
      "g (float[2,3] x, float[7] unread) => (float[6] y) { e = Exp(x) s = Shape(e) n = ReduceSum<keepdims = 0>(s)"
      " d = Sqrt(e) m = Constant<value = int64[1] {-1}>() y = Reshape(x, m) }");
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  CHECK(outline(*outcome.graph) == "Reshape[x]");
  CHECK(outcome.graph->inputs().size() == 2);
}

TEST_CASE("dynamic dimensions are fixed by name", "[onnx][dims]") {
  auto model = text_model("g (float[N,3] x, float[N,M] z) => (float y) { y = Concat<axis = 1>(x, z) }");
  SECTION("all given") {
    ImportOptions options;
    options.dimensions = {{"N", 4}, {"M", 2}};
    CHECK(output_shape(import_model(model, options)) == Shape{4, 5});
  }
  SECTION("missing ones are listed with the option to type") {
    const auto outcome = import_model(model);
    CHECK(outcome.codes() == "dynamic-dimension");
    CHECK(outcome.text().find("M (axis 1 of input z), N (axis 0 of input x)") != std::string::npos);
    CHECK(outcome.text().find("add --dim M=SIZE --dim N=SIZE") != std::string::npos);
  }
  SECTION("misspelt ones get a suggestion") {
    auto named = text_model("g (float[batch,3] x) => (float y) { y = Relu(x) }");
    ImportOptions options;
    options.dimensions = {{"bach", 4}};
    const auto outcome = import_model(named, options);
    CHECK(outcome.codes() == "unknown-dimension dynamic-dimension");
    CHECK(outcome.text().find("did you mean 'batch'?") != std::string::npos);
  }
  SECTION("sizes are at least 0") {
    ImportOptions options;
    options.dimensions = {{"N", -1}, {"M", -2}};
    CHECK(import_model(model, options).codes().starts_with("invalid-dimension invalid-dimension"));
  }
  SECTION("unnamed and negative ones are called after input and axis") {
    auto unnamed = text_model("g (float[N,3] x) => (float y) { y = Relu(x) }");
    auto& shape = *unnamed.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.mutable_dim(0)->clear_dim_param();
    shape.mutable_dim(1)->set_dim_value(-1);
    CHECK(import_model(unnamed).text().find("add --dim x_0=SIZE --dim x_1=SIZE") != std::string::npos);
    ImportOptions options;
    options.dimensions = {{"x_0", 2}, {"x_1", 5}};
    CHECK(output_shape(import_model(unnamed, options)) == Shape{2, 5});
  }
  SECTION("an input without any shape is refused") {
    auto bare = text_model("g (float[N,3] x) => (float y) { y = Relu(x) }");
    bare.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    bare.mutable_opset_import(0)->set_version(21);
    CHECK(import_model(bare).codes() == "unknown-shape");
  }
}

TEST_CASE("run-time shapes are bound", "[onnx][dims]") {
  const auto model = text_model("g (float[2,6] x, int64[K] shape) => (float y) { y = Reshape(x, shape) }");
  SECTION("unbound, the input to bind is named") {
    ImportOptions options;
    options.dimensions = {{"K", 2}};
    const auto outcome = import_model(model, options);
    CHECK(outcome.codes() == "run-time-shape");
    CHECK(outcome.text().find("--bind shape=FILE.npy") != std::string::npos);
    const TemporaryFolder folder;
    Diagnostics diagnostics;
    const auto inputs = onnx_inputs_to_bind(folder.write("m.onnx", model.SerializeAsString()), options, diagnostics);
    REQUIRE(inputs);
    CHECK(*inputs == std::vector<std::string>{"shape"});
  }
  SECTION("bound, it is a constant, and its shape fixes dimensions") {
    ImportOptions options;
    options.bindings.emplace("shape", ints({3, 4}));
    const auto outcome = import_model(model, options);
    CHECK(output_shape(outcome) == Shape{3, 4});
    CHECK(outcome.graph->inputs().size() == 1);
  }
  SECTION("a wrong name, type or shape is refused") {
    ImportOptions options;
    options.bindings.emplace("shap", ints({3, 4}));
    CHECK(import_model(model, options).codes() == "unknown-input dynamic-dimension");
    options.bindings.clear();
    options.bindings.emplace("shape", Tensor::scalar(ElementType::i64, 12));
    CHECK(import_model(model, options).codes() == "binding-mismatch");
    options.bindings.clear();
    options.bindings.emplace("shape", Tensor::scalar(ElementType::f32, 12));
    CHECK(import_model(model, options).codes() == "binding-mismatch");
  }
}

TEST_CASE("nodes out of order are sorted, and keep their names and as much of their order as can be", "[onnx]") {
  const auto outcome = import_text(
      "g (float[2] x) => (float[2] y, float[2] z) { y = Exp(c) z = Sqrt(x) b = Relu(a) a = Abs(x) c = Relu(b) }");
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  CHECK(outcome.text().empty());
  CHECK(outline(*outcome.graph) == "Sqrt[x] Abs[x] Relu[a] Relu[b] Exp[c]");
  CHECK(outcome.graph->op(OpId(2)).name == "Relu_1");  // as the file counts
  CHECK(outcome.graph->op(OpId(3)).name == "Relu_2");
  const auto sorted = import_text("g (float[2] x) => (float[2] y) { b = Relu(x) a = Abs(x) y = Add(a, b) }");
  CHECK(outline(*sorted.graph) == "Relu[x] Abs[x] Add[a,b]");
  // A branch reads from around it, and has an order of its own.
  const auto branch = import_text(
      "g (float[2] x) => (float[2] y) { c = Constant<value = bool {1}>()"
      " y = If (c) <then_branch = t () => (float[2] b) { b = Relu(a) a = Exp(outer) }, else_branch = e () => (float[2] "
      "b) "
      "{ b = Exp(x) }>"
      " outer = Abs(x) }");
  INFO(branch.text());
  REQUIRE(branch.graph);
  CHECK(outline(*branch.graph).starts_with("Abs[x] Exp[outer] Relu["));
}

TEST_CASE("a cycle through a branch is shown too", "[onnx][bad]") {
  const auto outcome = import_text(
      "g (float[2] x) => (float[2] y) { c = Constant<value = bool {1}>()"
      " y = If (c) <then_branch = t () => (float[2] b) { b = Relu(later) }, else_branch = e () => (float[2] b) { b = "
      "Exp(x) }>"
      " later = Abs(y) }");
  CHECK(outcome.codes() == "cycle");
  CHECK(outcome.text().find("If_1 -> Abs_1 -> If_1") != std::string::npos);
}

TEST_CASE("an opset newer than any known is a warning that names both", "[onnx]") {
  const auto newest = import_text("g (float[2] x) => (float[2] y) { y = Relu(x) }", 27);
  CHECK(newest.text().empty());
  const auto newer = import_text("g (float[2] x) => (float[2] y) { y = Relu(x) }", 28);
  REQUIRE(newer.graph);
  REQUIRE(newer.diagnostics.entries().size() == 1);
  CHECK(newer.diagnostics.entries()[0].severity == Severity::warning);
  CHECK(newer.diagnostics.entries()[0].code == "newer-opset");
  CHECK(newer.text().find("uses opset 28, Stowage knows opsets up to 27") != std::string::npos);
}

TEST_CASE("newer opsets than ONNX 1.12 knows are read where the operators are known", "[onnx]") {
  CHECK(output_shape(import_text("g (float[2,3] x) => (float[2,3] y) { a = Relu(x) y = Softmax(a) }", 25)) ==
        Shape{2, 3});
}

TEST_CASE("shapes that ONNX infers or the file declares otherwise are warned about", "[onnx]") {
  const auto outcome = import_text("g (float[2,3] x) => (float[7] y) { y = Relu(x) }");
  REQUIRE(outcome.graph);
  REQUIRE(outcome.diagnostics.entries().size() == 1);
  CHECK(outcome.diagnostics.entries()[0].severity == Severity::warning);
  CHECK(outcome.diagnostics.entries()[0].code == "declared-shape");
}

TEST_CASE("coverage tells operators apart without importing", "[onnx]") {
  const auto model =
      text_model("g (float[N] x) => (float y) { a = Relu(x) b = Foo(a) c = Relu(b) y = com.example.Bar(c) }");
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const auto rows = onnx_coverage(folder.write("m.onnx", model.SerializeAsString()), diagnostics);
  REQUIRE(rows);
  REQUIRE(rows->size() == 3);
  CHECK((*rows)[0].operator_name == "Foo");
  CHECK_FALSE((*rows)[0].supported);
  CHECK((*rows)[1].operator_name == "Relu");
  CHECK((*rows)[1].supported);
  CHECK((*rows)[1].nodes == std::vector<std::string>{"Relu_1", "Relu_2"});
  CHECK((*rows)[2].operator_name == "com.example::Bar");
  CHECK((*rows)[2].reason.find("domain com.example") != std::string::npos);
}

}  // namespace stowage::test
