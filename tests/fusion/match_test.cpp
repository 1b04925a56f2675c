// SPDX-License-Identifier: Apache-2.0
#include "fusion/match/match.h"

#include <catch2/catch.hpp>

#include "tests/fusion/labelled.h"
#include "tests/fusion/net.h"

using namespace stowage;
using stowage::testing::candidates_by_kind;
using stowage::testing::Labelled;
using stowage::testing::Net;

TEST_CASE("symmetric embeddings count once") {
  // One producer read by three equal readers; a pattern of a producer with two readers has six maps, three sets.
  GraphBuilder builder("branches");
  const TensorId in = builder.add_input("in", ElementType::f32, {1});
  const OpId root = builder.add_operator("A", "root", {}, {in}, "t", ElementType::f32, {1}, {});
  const TensorId t = builder.op(root).first_output();
  for (const char* name : {"b1", "b2", "b3"}) {
    builder.add_operator("B", name, {}, {t}, std::string(name) + "_out", ElementType::f32, {1}, {});
  }
  const Graph graph = std::move(builder).build();
  Labelled labelled;
  labelled.labels = {"A", "B", "B"};
  labelled.pattern.vertices = {
      {"root", 0, VertexRole::anchor}, {"x", 1, VertexRole::epilogue}, {"y", 2, VertexRole::epilogue}};
  labelled.pattern.edges = {{0, 1, std::nullopt}, {0, 2, std::nullopt}};
  const auto found = find_embeddings(graph, labelled.pattern, candidates_by_kind(graph, labelled.labels)).found;
  CHECK(found.size() == 6);
  CHECK(without_symmetric(found).size() == 3);
}

TEST_CASE("operand slots are respected") {
  GraphBuilder builder("slots");
  const TensorId in = builder.add_input("in", ElementType::f32, {1});
  const auto add = [&](const char* kind, const char* name, std::vector<std::optional<TensorId>> operands) {
    return builder
        .op(builder.add_operator(kind, name, {}, std::move(operands), std::string(name) + "_out", ElementType::f32, {1},
                                 {}))
        .first_output();
  };
  const TensorId a = add("A", "a", {in});
  add("B", "left", {a, in});
  add("B", "right", {in, a});
  add("B", "both", {a, a});
  const Graph graph = std::move(builder).build();
  const auto count = [&](std::optional<int> slot) {
    Pattern pattern;
    pattern.vertices = {{"a", 0, VertexRole::anchor}, {"b", 1, VertexRole::epilogue}};
    pattern.edges = {{0, 1, slot}};
    return find_embeddings(graph, pattern, candidates_by_kind(graph, {"A", "B"})).found.size();
  };
  CHECK(count(std::nullopt) == 3);
  CHECK(count(0) == 2);
  CHECK(count(1) == 2);
  CHECK(count(2) == 0);
}

namespace {

/// Blocks of convolution, batch normalisation, activation and residual add, one after another.
Graph residual_chain(int blocks) {
  Net net("chain");
  TensorId x = net.input("x", {1, 4, 6, 6});
  for (int b = 0; b < blocks; ++b) {
    const std::string n = std::to_string(b);
    const TensorId c = net.conv("conv" + n, x, 4, 3);
    const TensorId r = net.op("Relu", "relu" + n, {net.batch_norm("bn" + n, c)});
    x = net.op("Relu", "out" + n, {net.op("Add", "add" + n, {r, x})});
  }
  return net.done({x});
}

std::int64_t tests_on(int blocks) {
  const GraphFacts facts(residual_chain(blocks));
  std::int64_t tests = 0;
  for (const FusionTemplate& fusion_template : built_in_templates()) {
    const VertexCandidates candidates = find_candidates(facts, fusion_template);
    for (const Pattern& pattern : expand(fusion_template)) {
      const Embeddings embeddings = find_embeddings(facts.graph, pattern, candidates);
      CHECK(embeddings.given_up.empty());
      tests += embeddings.tests;
    }
  }
  return tests;
}

}  // namespace

TEST_CASE("the number of candidates tried grows linearly with the graph") {
  const std::int64_t per_block = tests_on(41) - tests_on(40);
  CHECK(tests_on(80) - tests_on(40) == 40 * per_block);
  CHECK(tests_on(400) - tests_on(80) == 320 * per_block);
  CHECK(per_block < 600);  // five operators a block, 33 patterns
}
