// SPDX-License-Identifier: Apache-2.0
// The matcher against Boost's VF2, which knows nothing of it: on random graphs both find the same embeddings.
#include <algorithm>
#include <iostream>
#include <random>
#include <set>

#include <boost/graph/vf2_sub_graph_iso.hpp>
#include <catch2/catch.hpp>

#include "core/graph_boost.h"
#include "tests/fusion/labelled.h"
#include "tests/fusion/net.h"

using namespace stowage;
using stowage::testing::candidates_by_kind;
using stowage::testing::Labelled;
using stowage::testing::Net;

namespace {

using Found = std::set<std::vector<std::size_t>>;

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
    tensors.push_back(builder.op(op).first_output());
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
      const std::optional<int> slot = random() % 3 == 0 ? std::optional(static_cast<int>(random() % 3)) : std::nullopt;
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

/// Every operator has one shape, so that any can read any. Kinds of all classes, so that every template has anchors.
Graph random_network(unsigned seed) {
  Net net("random", seed);
  std::mt19937 random(seed);
  const Shape shape = {1, 2, 1, 1};
  const TensorId dense = net.constant("dense", {2, 2, 1, 1});
  const TensorId thin = net.constant("thin", {2, 1, 1, 1});
  std::vector<TensorId> tensors = {net.input("x", shape)};
  const auto any = [&] {
    // Recent tensors first, so that chains grow.
    const std::size_t back = std::min(random() % tensors.size(), random() % tensors.size());
    return tensors[tensors.size() - 1 - back];
  };
  const unsigned size = 3 + random() % 8;
  for (unsigned i = 0; i < size; ++i) {
    const std::string name = "op" + std::to_string(i);
    const TensorId x = any();
    switch (random() % 12) {
      case 0:
      case 1: tensors.push_back(net.op("Conv", name, {x, dense})); break;
      case 2: tensors.push_back(net.op("Conv", name, {x, thin}, {{"group", std::int64_t{2}}})); break;
      case 3: tensors.push_back(net.op("MatMul", name, {x, any()})); break;
      case 4:
        tensors.push_back(net.op("MaxPool", name, {x}, {{"kernel_shape", std::vector<std::int64_t>{1, 1}}}));
        break;
      case 5: tensors.push_back(net.op("Softmax", name, {x})); break;
      case 6: tensors.push_back(net.op("ReduceMean", name, {x}, {{"axes", std::vector<std::int64_t>{-1}}})); break;
      case 7: tensors.push_back(net.op("Reshape", name, {x}, {{"shape", std::vector<std::int64_t>(shape)}})); break;
      case 8: tensors.push_back(net.op("Relu", name, {x})); break;
      case 9: tensors.push_back(net.op("Sqrt", name, {x})); break;
      case 10: tensors.push_back(net.op("Mul", name, {x, any()})); break;
      default: tensors.push_back(net.op("Add", name, {x, any()})); break;
    }
  }
  return net.done({tensors.back()});
}

using PatternGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, int>;

struct Collect {
  Found* found;
  const PatternGraph* pattern;
  template <class Map1, class Map2>
  bool operator()(Map1 to_large, Map2) const {
    std::vector<std::size_t> embedding;
    for (std::size_t v = 0; v < boost::num_vertices(*pattern); ++v) embedding.push_back(get(to_large, v));
    found->insert(embedding);
    return true;
  }
};

Found by_vf2(const Graph& graph, const Pattern& of, const VertexCandidates& candidates) {
  PatternGraph pattern(of.vertices.size());
  for (const PatternEdge& edge : of.edges) boost::add_edge(edge.from, edge.to, edge.slot.value_or(-1), pattern);
  const BoostGraph& large = graph.storage().boost;
  Found found;
  const auto same_label = [&](std::size_t v, std::size_t op) -> bool {
    return candidates.fits[of.vertices[v].source][op];
  };
  const auto same_slot = [&](const auto& small_edge, const auto& large_edge) {
    return pattern[small_edge] < 0 || pattern[small_edge] == large[large_edge].slot;
  };
  boost::vf2_subgraph_mono(pattern, large, Collect{&found, &pattern}, boost::vertex_order_by_mult(pattern),
                           boost::edges_equivalent(same_slot).vertices_equivalent(same_label));
  // VF2 knows no order among branches.
  std::erase_if(found, [&](const std::vector<std::size_t>& embedding) {
    for (std::size_t b = 1; b < of.branches.size(); ++b) {
      if (embedding[of.branches[b]] < embedding[of.branches[b - 1]]) return true;
    }
    return false;
  });
  return found;
}

std::vector<std::size_t> indices_of(const Embedding& embedding) {
  std::vector<std::size_t> indices;
  for (const OpId op : embedding) indices.push_back(op.index());
  return indices;
}

/// The sets of operators, whichever of them stands for which vertex.
Found sets_of(const Found& embeddings) {
  Found sets;
  for (std::vector<std::size_t> indices : embeddings) {
    std::sort(indices.begin(), indices.end());
    sets.insert(std::move(indices));
  }
  return sets;
}

/// How many embeddings both find.
std::size_t compare(const Graph& graph, const Pattern& pattern, const VertexCandidates& candidates) {
  const Found expected = by_vf2(graph, pattern, candidates);
  const Embeddings ours = find_embeddings(graph, pattern, candidates);
  REQUIRE(ours.given_up.empty());
  Found found;
  for (const Embedding& embedding : ours.found) REQUIRE(found.insert(indices_of(embedding)).second);  // none twice
  REQUIRE(found == expected);
  Found kept;
  for (const Embedding& embedding : without_symmetric(ours.found)) REQUIRE(kept.insert(indices_of(embedding)).second);
  REQUIRE(sets_of(kept) == sets_of(expected));
  REQUIRE(kept.size() == sets_of(expected).size());
  return expected.size();
}

constexpr unsigned first_seed = 20261121;

}  // namespace

TEST_CASE("the matcher finds what VF2 finds, random patterns on random labelled graphs") {
  INFO("seed " << first_seed);
  std::mt19937 random(first_seed);
  std::size_t embeddings = 0;
  int with_branches = 0;
  for (int round = 0; round < 10'000; ++round) {
    INFO("round " << round);
    const Graph graph = random_graph(random, 4 + static_cast<int>(random() % 14), 1 + static_cast<int>(random() % 3));
    Labelled labelled = random_pattern(random, 1 + static_cast<int>(random() % 4), 1 + static_cast<int>(random() % 3));
    // Now and then two vertices are branches without an order.
    const std::size_t last = labelled.labels.size() - 1;
    if (last > 0 && labelled.labels[last - 1] == labelled.labels[last] && random() % 2 == 0) {
      labelled.pattern.branches = {last - 1, last};
      ++with_branches;
    }
    embeddings += compare(graph, labelled.pattern, candidates_by_kind(graph, labelled.labels));
  }
  std::cout << "VF2, seed " << first_seed << ": " << embeddings << " embeddings of random patterns\n";
  CHECK(with_branches > 1'000);
  CHECK(embeddings > 20'000);  // otherwise the rounds were too easy
}

TEST_CASE("the matcher finds what VF2 finds, every pattern of every built-in template on random networks") {
  struct Expanded {
    const FusionTemplate* of;
    std::vector<Pattern> patterns;
    std::size_t embeddings = 0;
  };
  std::vector<Expanded> expanded;
  for (const FusionTemplate& fusion_template : built_in_templates()) {
    expanded.push_back({&fusion_template, expand(fusion_template), 0});
  }
  for (unsigned round = 0; round < 10'000; ++round) {
    INFO("seed " << first_seed + round);
    const GraphFacts facts(random_network(first_seed + round));
    for (Expanded& row : expanded) {
      const VertexCandidates candidates = find_candidates(facts, *row.of);
      for (const Pattern& pattern : row.patterns) {
        // Neither can find what a vertex has no operator for, nor more vertices than there are operators.
        if (pattern.vertices.size() > facts.graph.operators().size()) continue;
        row.embeddings += compare(facts.graph, pattern, candidates);
      }
    }
  }
  for (const Expanded& row : expanded) {
    std::cout << "VF2, seeds from " << first_seed << ": " << row.embeddings << " embeddings of " << row.of->name
              << "\n";
  }
}
