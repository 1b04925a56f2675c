// SPDX-License-Identifier: Apache-2.0
// Subgraph matching: DNNVM's Algorithm 1 (section 4.4). Start at the pattern vertex that fewest operators fit; go
// through the pattern breadth-first; try only operators beside what is matched already. On adjacency lists the cost
// grows linearly with the graph.
//
// An embedding maps pattern vertices one to one to operators, so that every pattern edge is an edge of the graph (in
// its operand slot, if it names one). Further edges between matched operators are allowed (a monomorphism, not an
// induced one): x * sigmoid(x) is a chain of two although the product reads x as well.
#pragma once

#include <cstdint>
#include <vector>

#include "fusion/operator_facts.h"
#include "fusion/pattern.h"

namespace stowage {

/// Which operators fit each vertex of a template, by kind and constraints alone.
struct VertexCandidates {
  std::vector<std::vector<bool>> fits;     ///< [template vertex][operator]
  std::vector<std::vector<OpId>> members;  ///< the same as ascending lists
};
VertexCandidates find_candidates(const GraphFacts& facts, const FusionTemplate& fusion_template);

/// Operators by pattern vertex.
using Embedding = std::vector<OpId>;

struct Embeddings {
  std::vector<Embedding> found;  ///< ascending by the start vertex, then as the search meets them
  std::int64_t tests = 0;        ///< candidates tried; grows linearly with the graph
  std::vector<OpId> given_up;    ///< starts whose search was cut off after `tests_per_start`
};

/// Cuts off the search from one start, which only a graph of very many parallel element-wise branches can reach.
constexpr std::int64_t tests_per_start = 20'000;

/// Every embedding of a pattern.
Embeddings find_embeddings(const Graph& graph, const Pattern& pattern, const VertexCandidates& candidates);

/// Of embeddings that cover the same operators (symmetric patterns have several) the first remains.
std::vector<Embedding> without_symmetric(std::vector<Embedding> embeddings);

}  // namespace stowage
