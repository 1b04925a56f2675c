// SPDX-License-Identifier: Apache-2.0
// Why operators are not in one fused operator: every kind of answer, as a person reads it.
#include "fusion/explain/why_not.h"

#include <catch2/catch.hpp>

#include "fusion/groups/group_cost.h"
#include "fusion/strategies/strategy.h"
#include "tests/fusion/net.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

/// A group costs 10 cycles for each operator, less 5 for each one fused; three together do not fit.
class Cost : public GroupCost {
 public:
  [[nodiscard]] Answer cost(const Graph&, const FusedOperator& group) const override {
    const auto size = static_cast<std::int64_t>(group.operators.size());
    if (size > 2) {
      return {Decision::refuse("ldm-capacity", "needs " + std::to_string(100 * size) + " KiB, has 250 KiB",
                               std::to_string(100 * size - 250) + " KiB of LDM more"),
              0};
    }
    return {Decision::allow(), 10 * size - 5 * (size - 1)};
  }
};

std::vector<FusionTemplate> own_templates() {
  Diagnostics diagnostics;
  const auto templates = parse_templates(R"(
[[template]]
name = "conv_tail"
[[template.vertex]]
name = "conv"
role = "anchor"
kinds = ["Conv"]
[[template.vertex]]
name = "tail"
role = "epilogue"
kinds = ["@element_wise"]
repeat = 2
[[template.edge]]
from = "conv"
to = "tail"
slot = 0

[[template]]
name = "conv_pool"
[[template.vertex]]
name = "conv"
role = "producer"
kinds = ["Conv"]
[[template.vertex]]
name = "pool"
role = "anchor"
kinds = ["MaxPool"]
where = { strides = 1, kernel_shape = { max = 3 } }
[[template.edge]]
from = "conv"
to = "pool"
)",
                                         "own.toml", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(templates);
  return *templates;
}

/// left and right are added; then relu, sigmoid and a pool of stride 2. shared is read twice; sum is far away.
Graph network() {
  Net net("net");
  const TensorId x = net.input("x", {1, 4, 8, 8});
  const TensorId y = net.input("y", {4, 4});
  const TensorId add = net.op("Add", "add", {net.conv("left", x, 4), net.conv("right", x, 4)});
  const TensorId relu = net.op("Relu", "relu", {add});
  const TensorId third = net.conv("third", relu, 4);
  const TensorId pool =
      net.op("MaxPool", "pool", {third},
             {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  const TensorId shared = net.conv("shared", pool, 4);
  const TensorId tanh = net.op("Tanh", "tanh", {shared});
  const TensorId exp = net.op("Exp", "exp", {shared});
  return net.done({tanh, exp, net.op("Sqrt", "apart", {y})});
}

std::string ask(const std::vector<std::string>& names, WhyNot* answer = nullptr) {
  const Graph graph = network();
  const Cost cost;
  const auto templates = own_templates();
  const Fusion fusion = fuse_graph(graph, templates, &cost, *find_strategy("greedy"), {});
  std::vector<OpId> operators;
  Diagnostics diagnostics;
  for (const std::string& name : names) operators.push_back(*find_named_operator(graph, name, diagnostics));
  const WhyNot found = why_not(GraphFacts(graph), templates, fusion.record, operators);
  if (answer != nullptr) *answer = found;
  return to_text(found, graph, fusion.record);
}

}  // namespace

TEST_CASE("why not, of operators that are together") {
  CHECK(ask({"left", "add"}) == "left + add: they are together in left + add (conv_tail, 15 cycles)\n");
  // By the names of the nodes that they came from, in any order.
  CHECK(ask({"node_add", "node_left"}) == ask({"left", "add"}));
}

TEST_CASE("why not, where a rule of lowering refuses, with the change that lifts it") {
  WhyNot answer;
  CHECK(ask({"left", "relu"}, &answer) == R"(left + relu: refused
  left + add + relu (conv_tail) breaks one rule:
    ldm-capacity: needs 300 KiB, has 250 KiB
  what would change it: 50 KiB of LDM more
)");
  CHECK(answer.answer == WhyNotAnswer::refused);
  CHECK(answer.flip == "50 KiB of LDM more");
  CHECK(answer.group.size() == 3);
}

TEST_CASE("why not, where a rule of structure refuses") {
  CHECK(ask({"shared", "tanh"}) == R"(shared + tanh: refused
  shared + tanh (conv_tail) breaks one rule:
    inner-use: shared_out, the result of shared, is also read by exp outside the group
  what would change it: exp not reading shared_out
)");
}

TEST_CASE("why not, where one constraint of the nearest template fails") {
  WhyNot answer;
  CHECK(ask({"third", "pool"}, &answer) == R"(third + pool: no template takes them
  nearest is template conv_pool (conv, pool)
    wants strides 1 at vertex pool, pool has [2,2]
  what would change it: pool with strides 1
)");
  REQUIRE(answer.nearest);
  CHECK(answer.nearest->name == "conv_pool");
}

TEST_CASE("why not, where several things differ from the nearest template") {
  CHECK(ask({"right", "add"}) == R"(right + add: no template takes them
  nearest is template conv_tail (conv, tail)
    wants vertex tail to read vertex conv in slot 0, add reads right in slot 1
  what would change it: add reading right in slot 0
)");
  CHECK(ask({"left", "right"}) == R"(left + right: no template takes them
  nearest is template conv_tail (conv, tail)
    wants @element_wise at vertex tail, right is Conv
    wants vertex tail to read vertex conv, right does not read left
)");
  CHECK(ask({"relu", "pool"}) == R"(relu + pool: no template takes them
  between them: relu + third + pool
  nearest is template conv_tail (conv, tail, tail#2)
    wants Conv at vertex conv, relu is Relu
    wants @element_wise at vertex tail, third is Conv
    wants @element_wise at vertex tail#2, pool is MaxPool
)");
}

TEST_CASE("why not, of operators that nothing joins") {
  CHECK(ask({"left", "apart"}) == R"(left + apart: no template takes them
  no way leads from one to the other, and they read no common tensor
)");
}

TEST_CASE("why not, where other groups were chosen") {
  // With a slot that both convolutions may use, the first takes the add.
  Net net("join");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId y = net.input("y", {1, 4, 6, 6});
  const Graph graph = net.done({net.op("Add", "add", {net.conv("left", x, 4), net.conv("right", y, 4)})});
  const Cost cost;
  const Fusion fusion = fuse_graph(graph, built_in_templates(), &cost, *find_strategy("greedy"), {});
  const WhyNot answer = why_not(GraphFacts(graph), built_in_templates(), fusion.record,
                                {*graph.find_operator("right"), *graph.find_operator("add")});
  CHECK(answer.answer == WhyNotAnswer::outbid);
  CHECK(to_text(answer, graph, fusion.record) == R"(right + add: outbid
  right + add (convolution, 15 cycles) would be allowed; strategy greedy chose instead:
    left + add (convolution, 15 cycles)
    right (convolution, 10 cycles)
  in its place the program would take just as long
)");
}

namespace {

/// What is said of operators of a network, under one strategy and with templates.
std::string ask_of(const Graph& graph, const std::vector<std::string>& names, const std::string& strategy = "greedy",
                   const std::vector<FusionTemplate>& templates = built_in_templates()) {
  const Cost cost;
  const Fusion fusion = fuse_graph(graph, templates, &cost, *find_strategy(strategy), {});
  std::vector<OpId> operators;
  for (const std::string& name : names) operators.push_back(*graph.find_operator(name));
  return to_text(why_not(GraphFacts(graph), templates, fusion.record, operators), graph, fusion.record);
}

}  // namespace

TEST_CASE("why not, of views, which cost nothing") {
  Net net("views");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId both =
      net.op("Concat", "both", {net.conv("left", x, 4), net.conv("right", x, 4)}, {{"axis", std::int64_t{1}}});
  const TensorId flat = net.op("Flatten", "flat", {both});
  const TensorId product = net.op("MatMul", "product", {flat, net.constant("w", {288, 5})});
  const Graph graph = net.done({product});
  const std::string nothing =
      "a view costs nothing, it is resolved before groups are searched: nothing is launched for it\n";
  CHECK(ask_of(graph, {"left", "both"}) == "left + both: there is nothing to fuse\n  " + nothing +
                                               "    both (Concat): what it joins is written straight into both_out\n");
  CHECK(ask_of(graph, {"flat", "product"}) == "flat + product: there is nothing to fuse\n  " + nothing +
                                                  "    flat (Flatten): flat_out is the memory of both_out\n");
  CHECK(ask_of(graph, {"both", "flat"}) ==
        "both + flat: there is nothing to fuse\n"
        "  views cost nothing, they are resolved before groups are searched: nothing is launched for them\n"
        "    both (Concat): what it joins is written straight into both_out\n"
        "    flat (Flatten): flat_out is the memory of both_out\n");
  // Between two kernels they are named, and the question remains.
  CHECK(ask_of(graph, {"left", "product"}) == R"(left + product: no template takes them
  between them: left + both + flat + product
  views cost nothing, they are resolved before groups are searched: nothing is launched for them
    both (Concat): what it joins is written straight into both_out
    flat (Flatten): flat_out is the memory of both_out
  nearest is template convolution_pool (conv, pool)
    wants MaxPool or AveragePool or GlobalAveragePool or GlobalMaxPool at vertex pool, product is MatMul
    wants vertex pool to read vertex conv, product reads left through the view flat
)");
}

TEST_CASE("a template with a vertex for a view is held against it") {
  Diagnostics diagnostics;
  const auto templates = parse_templates(R"([[template]]
name = "pool_view_product"
[[template.vertex]]
name = "pool"
role = "producer"
kinds = ["MaxPool"]
where = { strides = 1 }
[[template.vertex]]
name = "flat"
role = "view"
kinds = ["@view"]
[[template.vertex]]
name = "product"
role = "anchor"
kinds = ["MatMul"]
[[template.edge]]
from = "pool"
to = "flat"
[[template.edge]]
from = "flat"
to = "product"
)",
                                         "t.toml", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(templates);
  Net net("views");
  const TensorId pool =
      net.op("MaxPool", "pool", {net.input("x", {1, 4, 6, 6})},
             {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  const TensorId flat = net.op("Flatten", "flat", {pool});
  const Graph graph = net.done({net.op("MatMul", "product", {flat, net.constant("w", {36, 5})})});
  const std::string answer = ask_of(graph, {"pool", "product"}, "greedy", *templates);
  CHECK(answer.substr(answer.find("  nearest")) == R"(  nearest is template pool_view_product (pool, flat, product)
    wants strides 1 at vertex pool, pool has [2,2]
  what would change it: pool with strides 1
)");
}

TEST_CASE("of two templates that take other kinds, one of the same sort is nearer") {
  const auto pair_of = [](const std::string& name, const std::string& anchor, const std::string& behind) {
    return "[[template]]\nname = \"" + name +
           "\"\n[[template.vertex]]\nname = \"a\"\nrole = \"producer\"\nkinds = [\"" + anchor +
           "\"]\n[[template.vertex]]\nname = \"b\"\nrole = \"anchor\"\nkinds = [\"" + behind +
           "\"]\n[[template.edge]]\nfrom = \"a\"\nto = \"b\"\n";
  };
  Diagnostics diagnostics;
  const auto templates =
      parse_templates(pair_of("conv_softmax", "Conv", "Softmax") + pair_of("matmul_softmax", "MatMul", "Softmax"),
                      "t.toml", diagnostics);
  REQUIRE(templates);
  Net net("gemm");
  const TensorId gemm = net.op("Gemm", "gemm", {net.input("x", {4, 4}), net.constant("w", {4, 4})});
  const Graph graph = net.done({net.op("Softmax", "softmax", {gemm})});
  CHECK(ask_of(graph, {"gemm", "softmax"}, "greedy", *templates) == R"(gemm + softmax: no template takes them
  nearest is template matmul_softmax (a, b)
    wants MatMul at vertex a, gemm is Gemm
  what would change it: a template that takes Gemm there
)");
}

TEST_CASE("why not, where several rules refuse, with the one change that lifts them all, or that there is none") {
  Diagnostics diagnostics;
  const auto templates = parse_templates(R"([[template]]
name = "skip"
[[template.vertex]]
name = "conv"
role = "anchor"
kinds = ["Conv"]
[[template.vertex]]
name = "act"
role = "epilogue"
kinds = ["Relu"]
[[template.vertex]]
name = "add"
role = "epilogue"
kinds = ["Add"]
[[template.edge]]
from = "conv"
to = "act"
[[template.edge]]
from = "act"
to = "add"
[[template]]
name = "rows"
[[template.vertex]]
name = "rows"
role = "producer"
kinds = ["Gather"]
[[template.vertex]]
name = "product"
role = "anchor"
kinds = ["MatMul"]
[[template.edge]]
from = "rows"
to = "product"
)",
                                         "t.toml", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(templates);
  Net net("skip");
  const TensorId conv = net.conv("conv", net.input("x", {1, 4, 6, 6}), 4);
  const TensorId add = net.op("Add", "add", {net.op("Relu", "relu", {conv}), net.op("Tanh", "tanh", {conv})});
  CHECK(ask_of(net.done({add}), {"relu", "add"}, "greedy", *templates) == R"(relu + add: refused
  conv + relu + add (skip) breaks 2 rules:
    inner-use: conv_out, the result of conv, is also read by tanh outside the group
    convex: a path leaves the group and comes back through tanh to add
  what would change it: a template that takes tanh too, or tanh not reading conv_out
)");
  GraphBuilder builder("rows");
  const TensorId x = builder.add_input("x", ElementType::f32, {9, 4});
  const TensorId numbers = builder.add_input("numbers", ElementType::i64, {3});
  const auto rows = append_operator(builder, "Gather", "rows", {}, {x, numbers}, "rows_out", {}, {}, diagnostics);
  const auto product =
      append_operator(builder, "MatMul", "product", {}, {*rows, builder.add_input("w", ElementType::f32, {4, 5})},
                      "product_out", {}, {}, diagnostics);
  builder.mark_output(*product);
  CHECK(ask_of(std::move(builder).build(), {"rows", "product"}, "greedy", *templates) == R"(rows + product: refused
  rows + product (rows) breaks one rule:
    producer-places: rows (Gather) reads at places that depend on data
  what would change it: no single change that is known
)");
}

TEST_CASE("why not, where nothing was to be fused") {
  Net net("chain");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const Graph graph = net.done({net.op("Relu", "relu", {net.conv("conv", x, 4)})});
  CHECK(ask_of(graph, {"conv", "relu"}, "none") == R"(conv + relu: outbid
  conv + relu (convolution, 15 cycles) would be allowed; strategy none leaves every operator alone:
    conv (convolution, 10 cycles)
    relu (single, 10 cycles)
  in its place the program would take 5 cycles less
)");
}

TEST_CASE("a misspelt operator gets the nearest name") {
  Diagnostics diagnostics;
  CHECK(!find_named_operator(network(), "rihgt", diagnostics));
  CHECK(!find_named_operator(network(), "node_poll", diagnostics));
  CHECK(!find_named_operator(network(), "something else", diagnostics));
  CHECK(format_diagnostics(diagnostics) == R"(error: no operator or node 'rihgt' in net [unknown-operator]
  help: did you mean 'right'?
error: no operator or node 'node_poll' in net [unknown-operator]
  help: did you mean 'node_pool'?
error: no operator or node 'something else' in net [unknown-operator]
  help: 'stowage explain DIR' lists the operators
)");
}
