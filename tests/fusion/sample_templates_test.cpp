// SPDX-License-Identifier: Apache-2.0
// Templates of operators that exporters write out in smaller ones, and the sample files that show how.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "fusion/match/match.h"
#include "fusion/strategies/strategy.h"
#include "tests/fusion/net.h"
#include "tests/places.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

std::vector<FusionTemplate> parsed(const std::string& toml) {
  Diagnostics diagnostics;
  const auto templates = parse_templates(toml, "t.toml", diagnostics, built_in_templates());
  INFO(format_diagnostics(diagnostics));
  REQUIRE(templates);
  return *templates;
}

std::vector<FusionTemplate> sample(const std::string& name) {
  std::ifstream file(test::source_folder() / "samples/templates" / name);
  return parsed({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

Graph gelu(float divisor) {
  Net net("gelu");
  const TensorId x = net.input("x", {4, 16});
  const TensorId scaled = net.op("Div", "scaled", {x, net.value("root", {}, {divisor})});
  const TensorId erf = net.op("Erf", "erf", {scaled});
  const TensorId shifted = net.op("Add", "shifted", {erf, net.value("one", {}, {1})});
  const TensorId gated = net.op("Mul", "gated", {x, shifted});
  return net.done({net.op("Mul", "halved", {net.value("half", {1}, {0.5F}), gated})});
}

std::size_t embeddings_of(const FusionTemplate& fusion_template, const Graph& graph) {
  const GraphFacts facts(graph);
  const VertexCandidates candidates = find_candidates(facts, fusion_template);
  std::size_t found = 0;
  for (const Pattern& pattern : expand(fusion_template)) {
    found += find_embeddings(graph, pattern, candidates).found.size();
  }
  return found;
}

}  // namespace

TEST_CASE("GELU written out is a template that asks for its constants") {
  std::vector<FusionTemplate> templates = sample("gelu.toml");
  REQUIRE(templates.size() == 1);
  templates.insert(templates.end(), built_in_templates().begin(), built_in_templates().end());
  const auto first_group = [&](float divisor) {
    return find_strategy("greedy")->fuse(gelu(divisor), templates, nullptr, {}).groups.front();
  };
  CHECK(first_group(1.41421354F).template_name == "gelu");
  CHECK(first_group(1.41421354F).operators.size() == 5);
  CHECK(first_group(2).template_name == "element_wise");
}

TEST_CASE("softmax written out is a pattern, with a value that is read twice") {
  const FusionTemplate softmax = parsed(R"([[template]]
name = "written_out_softmax"
[[template.vertex]]
name = "largest"
role = "producer"
kinds = ["ReduceMax"]
where = { last_axes = 1 }
[[template.vertex]]
name = "difference"
role = "prologue"
kinds = ["Sub"]
[[template.vertex]]
name = "power"
role = "prologue"
kinds = ["Exp"]
[[template.vertex]]
name = "sum"
role = "producer"
kinds = ["ReduceSum"]
where = { last_axes = 1 }
[[template.vertex]]
name = "quotient"
role = "anchor"
kinds = ["Div"]
[[template.edge]]
from = "largest"
to = "difference"
slot = 1
[[template.edge]]
from = "difference"
to = "power"
[[template.edge]]
from = "power"
to = "sum"
[[template.edge]]
from = "power"
to = "quotient"
slot = 0
[[template.edge]]
from = "sum"
to = "quotient"
slot = 1
)")
                                     .front();
  const auto written_out = [](std::int64_t axis) {
    Net net("softmax");
    const std::vector<std::int64_t> axes = {axis};
    const TensorId x = net.input("x", {4, 16});
    const TensorId e =
        net.op("Exp", "exp", {net.op("Sub", "sub", {x, net.op("ReduceMax", "max", {x}, {{"axes", axes}})})});
    return net.done({net.op("Div", "div", {e, net.op("ReduceSum", "sum", {e}, {{"axes", axes}})})});
  };
  CHECK(embeddings_of(softmax, written_out(-1)) == 1);
  CHECK(embeddings_of(softmax, written_out(1)) == 1);
  CHECK(embeddings_of(softmax, written_out(0)) == 0);
}

TEST_CASE("a shared operand is context: it must be there, but does not belong to the group") {
  const std::vector<FusionTemplate> templates = parsed(R"([[template]]
name = "gate"
[[template.vertex]]
name = "source"
role = "context"
kinds = ["Conv"]
[[template.vertex]]
name = "sigmoid"
role = "anchor"
kinds = ["Sigmoid"]
[[template.vertex]]
name = "product"
role = "epilogue"
kinds = ["Mul"]
[[template.edge]]
from = "source"
to = "sigmoid"
[[template.edge]]
from = "source"
to = "product"
[[template.edge]]
from = "sigmoid"
to = "product"
)");
  Net net("gate");
  const TensorId c = net.conv("conv", net.input("x", {1, 4, 6, 6}), 4);
  const Graph graph = net.done({net.op("Mul", "mul", {c, net.op("Sigmoid", "sigmoid", {c})})});
  const FusedGraph fused = find_strategy("greedy")->fuse(graph, templates, nullptr, {});
  CHECK(to_text(fused) == R"(gate: 3 operators in 2 groups
conv: single (x, conv_w) -> conv_out
  Conv conv (anchor)
sigmoid: gate (conv_out) -> mul_out
  Sigmoid sigmoid (anchor)
  Mul mul (epilogue)
)");
}
