// SPDX-License-Identifier: Apache-2.0
#include "fusion/match.h"

#include <boost/graph/vf2_sub_graph_iso.hpp>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/graph_boost.h"
#include "tests/fusion/net.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

/// A pattern whose vertices are labelled with single kinds.
struct Labelled {
  Pattern pattern;
  std::vector<std::string> labels;
};

VertexCandidates candidates_by_kind(const Graph& graph, const std::vector<std::string>& labels) {
  VertexCandidates candidates;
  for (const std::string& label : labels) {
    candidates.fits.emplace_back();
    candidates.members.emplace_back();
    for (std::size_t i = 0; i < graph.operators().size(); ++i) {
      const bool fits = graph.operators()[i].kind == label;
      candidates.fits.back().push_back(fits);
      if (fits) candidates.members.back().emplace_back(i);
    }
  }
  return candidates;
}

Graph random_graph(std::mt19937& random, int size, int labels) {
  GraphBuilder builder("random");
  std::vector<TensorId> tensors = {builder.add_input("in", ElementType::f32, {1})};
  for (int i = 0; i < size; ++i) {
    std::vector<std::optional<TensorId>> operands;
    const auto count = 1 + random() % 3;
    for (std::size_t k = 0; k < count; ++k) operands.emplace_back(tensors[random() % tensors.size()]);
    const std::string kind(1, static_cast<char>('A' + random() % static_cast<unsigned>(labels)));
    const OpId op = builder.add_operator(kind, "op" + std::to_string(i), {}, operands, "t" + std::to_string(i),
                                         ElementType::f32, {1}, {});
    tensors.push_back(builder.op(op).output);
  }
  return std::move(builder).build();
}

/// Connected and acyclic; at most one edge between two vertices, some with a slot.
Labelled random_pattern(std::mt19937& random, int size, int labels) {
  Labelled made;
  for (int v = 0; v < size; ++v) {
    made.labels.emplace_back(1, static_cast<char>('A' + random() % static_cast<unsigned>(labels)));
    made.pattern.vertices.push_back({"v" + std::to_string(v), static_cast<std::size_t>(v), VertexRole::epilogue});
    const auto here = static_cast<std::size_t>(v);
    for (std::size_t other = 0; other < here; ++other) {
      const bool connects = other + 1 == here || random() % 4 == 0;
      if (!connects) continue;
      const int slot = random() % 3 == 0 ? static_cast<int>(random() % 3) : -1;
      // Mostly a chain; sometimes two roots that share a reader or two readers of one root.
      if (here == 2 && random() % 3 == 0 && made.pattern.edges.size() == 1) {
        made.pattern.edges.push_back({0, here, slot});
      } else {
        made.pattern.edges.push_back({other, here, slot});
      }
    }
  }
  std::set<std::pair<std::size_t, std::size_t>> seen;
  std::vector<PatternEdge> kept;
  for (const PatternEdge& edge : made.pattern.edges) {
    if (seen.emplace(edge.from, edge.to).second) kept.push_back(edge);
  }
  made.pattern.edges = kept;
  return made;
}

using PatternGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, int>;

struct Collect {
  std::set<std::vector<std::size_t>>* found;
  const PatternGraph* pattern;
  template <class Map1, class Map2>
  bool operator()(Map1 to_large, Map2) const {
    std::vector<std::size_t> embedding;
    for (std::size_t v = 0; v < boost::num_vertices(*pattern); ++v) embedding.push_back(get(to_large, v));
    found->insert(embedding);
    return true;
  }
};

std::set<std::vector<std::size_t>> by_vf2(const Graph& graph, const Labelled& labelled) {
  PatternGraph pattern(labelled.pattern.vertices.size());
  for (const PatternEdge& edge : labelled.pattern.edges) boost::add_edge(edge.from, edge.to, edge.slot, pattern);
  const BoostGraph& large = graph.storage().boost;
  std::set<std::vector<std::size_t>> found;
  const auto same_label = [&](std::size_t v, std::size_t op) {
    return labelled.labels[v] == graph.operators()[op].kind;
  };
  const auto same_slot = [&](const auto& small_edge, const auto& large_edge) {
    return pattern[small_edge] < 0 || pattern[small_edge] == large[large_edge].slot;
  };
  boost::vf2_subgraph_mono(pattern, large, Collect{&found, &pattern}, boost::vertex_order_by_mult(pattern),
                           boost::edges_equivalent(same_slot).vertices_equivalent(same_label));
  return found;
}

std::set<std::vector<std::size_t>> by_us(const Graph& graph, const Labelled& labelled) {
  std::set<std::vector<std::size_t>> found;
  const Embeddings embeddings = find_embeddings(graph, labelled.pattern, candidates_by_kind(graph, labelled.labels));
  CHECK(embeddings.given_up.empty());
  for (const Embedding& embedding : embeddings.found) {
    std::vector<std::size_t> indices;
    for (const OpId op : embedding) indices.push_back(op.index());
    CHECK(found.insert(indices).second);  // none twice
  }
  return found;
}

}  // namespace

TEST_CASE("the matcher finds what VF2 finds on random labelled graphs") {
  const unsigned seed = 20261121;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::size_t embeddings = 0;
  for (int round = 0; round < 600; ++round) {
    INFO("round " << round);
    const Graph graph = random_graph(random, 4 + static_cast<int>(random() % 14), 1 + static_cast<int>(random() % 3));
    const Labelled pattern =
        random_pattern(random, 1 + static_cast<int>(random() % 4), 1 + static_cast<int>(random() % 3));
    const auto expected = by_vf2(graph, pattern);
    REQUIRE(by_us(graph, pattern) == expected);
    embeddings += expected.size();
  }
  CHECK(embeddings > 1000);  // otherwise the rounds were too easy
}

TEST_CASE("symmetric embeddings count once") {
  // One producer read by three equal readers; a pattern of a producer with two readers has six maps, three sets.
  GraphBuilder builder("siblings");
  const TensorId in = builder.add_input("in", ElementType::f32, {1});
  const OpId root = builder.add_operator("A", "root", {}, {in}, "t", ElementType::f32, {1}, {});
  const TensorId t = builder.op(root).output;
  for (const char* name : {"b1", "b2", "b3"}) {
    builder.add_operator("B", name, {}, {t}, std::string(name) + "_out", ElementType::f32, {1}, {});
  }
  const Graph graph = std::move(builder).build();
  Labelled labelled;
  labelled.labels = {"A", "B", "B"};
  labelled.pattern.vertices = {
      {"root", 0, VertexRole::anchor}, {"x", 1, VertexRole::epilogue}, {"y", 2, VertexRole::epilogue}};
  labelled.pattern.edges = {{0, 1, -1}, {0, 2, -1}};
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
        .output;
  };
  const TensorId a = add("A", "a", {in});
  add("B", "left", {a, in});
  add("B", "right", {in, a});
  add("B", "both", {a, a});
  const Graph graph = std::move(builder).build();
  const auto count = [&](int slot) {
    Pattern pattern;
    pattern.vertices = {{"a", 0, VertexRole::anchor}, {"b", 1, VertexRole::epilogue}};
    pattern.edges = {{0, 1, slot}};
    return find_embeddings(graph, pattern, candidates_by_kind(graph, {"A", "B"})).found.size();
  };
  CHECK(count(-1) == 3);
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
