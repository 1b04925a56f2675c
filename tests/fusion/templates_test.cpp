// SPDX-License-Identifier: Apache-2.0
// Templates: reading them, and expansion to plain patterns.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "fusion/templates/pattern.h"
#include "fusion/templates/template.h"
#include "tests/fusion/one_template.h"
#include "tests/places.h"

using namespace stowage;
using stowage::testing::read_one;

namespace {

std::string text_of(const std::vector<Pattern>& patterns) {
  std::string text;
  for (const Pattern& pattern : patterns) {
    std::string vertices;
    for (const PatternVertex& vertex : pattern.vertices) vertices += (vertices.empty() ? "" : "-") + vertex.name;
    text += vertices;
    for (const PatternEdge& edge : pattern.edges) {
      text += " " + pattern.vertices[edge.from].name + ">" + pattern.vertices[edge.to].name;
      if (edge.slot) text += ":" + std::to_string(*edge.slot);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the built-in templates are read, in the order in which greedy tries them") {
  std::vector<std::string> names;
  for (const FusionTemplate& fusion_template : built_in_templates()) names.push_back(fusion_template.name);
  CHECK(names == std::vector<std::string>{"attention", "layer_normalization", "depthwise_pointwise", "convolution_pool",
                                          "pool_convolution", "convolution_convolution", "parallel_convolutions",
                                          "parallel_products", "convolution", "matmul", "depthwise", "reduction",
                                          "element_wise"});
}

TEST_CASE("a template in TOML becomes a value") {
  const FusionTemplate read = read_one(R"([[template]]
name = "mine"
summary = "a strided convolution and a clip"
[[template.vertex]]
name = "conv"
kinds = ["Conv"]
role = "anchor"
where = { strides = [2, 2], rank = 4 }
[[template.vertex]]
name = "clip"
kinds = ["Clip", "@element_wise"]
role = "epilogue"
optional = true
repeat = 3
[[template.edge]]
from = "conv"
to = "clip"
slot = 0
)");
  CHECK(read.name == "mine");
  CHECK(read.summary == "a strided convolution and a clip");
  REQUIRE(read.vertices.size() == 2);
  CHECK(read.vertices[0].role == VertexRole::anchor);
  REQUIRE(read.vertices[0].constraints.size() == 2);
  CHECK(read.vertices[0].constraints[0].first == "rank");
  CHECK(read.vertices[1].kinds == std::vector<std::string>{"Clip", "@element_wise"});
  CHECK(read.vertices[1].optional);
  CHECK(read.vertices[1].repeat == 3);
  REQUIRE(read.edges.size() == 1);
  CHECK(read.edges[0].slot == 0);
}

TEST_CASE("the example of docs/templates.md is right") {
  std::ifstream file(test::source_folder() / "docs/templates.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t start = page.find("```toml\n") + 8;
  const FusionTemplate example = read_one(page.substr(start, page.find("```\n", start) - start));
  CHECK(expansion_count(example) == 6);
}

TEST_CASE("optional and repeated vertices are written out, longest first") {
  const FusionTemplate chain = read_one(R"([[template]]
name = "chain"
[[template.vertex]]
name = "conv"
kinds = ["Conv"]
role = "anchor"
[[template.vertex]]
name = "bias"
kinds = ["Add"]
role = "epilogue"
optional = true
[[template.vertex]]
name = "tail"
kinds = ["@element_wise"]
role = "epilogue"
repeat = 2
[[template.edge]]
from = "conv"
to = "bias"
slot = 0
[[template.edge]]
from = "bias"
to = "tail"
slot = 1
)");
  CHECK(expansion_count(chain) == 4);
  CHECK(text_of(expand(chain)) == R"(conv-bias-tail-tail#2 tail>tail#2 conv>bias:0 bias>tail:1
conv-bias-tail conv>bias:0 bias>tail:1
conv-tail-tail#2 tail>tail#2 conv>tail:1
conv-tail conv>tail:1
)");
}
