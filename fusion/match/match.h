// SPDX-License-Identifier: Apache-2.0
// Subgraph matching: DNNVM's Algorithm 1 (section 4.4). Start at the pattern vertex that fewest operators fit; go
// through the pattern breadth-first; try only operators beside what is matched already. On adjacency lists the cost
// grows linearly with the graph.
//
// An embedding maps pattern vertices one to one to operators, so that every pattern edge is an edge of the graph (in
// its operand slot, if it names one). Further edges between matched operators are allowed (a monomorphism, not an
// induced one): x * sigmoid(x) is a chain of two although the product reads x as well. Branches of branches have no
// order, so of the embeddings that differ in it alone there is one (Pattern::branches).
#pragma once

#include <cstdint>
#include <vector>

#include "fusion/facts/operator_facts.h"
#include "fusion/templates/pattern.h"

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
  std::vector<OpId> given_up;    ///< starts whose search was cut off because the budget was spent
};

/// What searches may spend, for each start: the number of candidates tried, and of embeddings kept. Only a graph of
/// very many parallel branches, or a template that repeats nearly everything, reaches that. With one budget for all
/// patterns of a template, its time and memory grow linearly with the graph whatever the template is.
struct SearchBudget {
  static constexpr std::int64_t tests_per_start = 20'000;
  static constexpr std::int64_t embeddings_per_start = 200;

  explicit SearchBudget(std::size_t operators)
      : tests(operators, tests_per_start), embeddings(operators, embeddings_per_start) {}
  std::vector<std::int64_t> tests;       ///< by start: left
  std::vector<std::int64_t> embeddings;  ///< by start: left; one for each set of operators
};

/// Every embedding of a pattern; each search from one start ends after SearchBudget::tests_per_start.
Embeddings find_embeddings(const Graph& graph, const Pattern& pattern, const VertexCandidates& candidates);
/// The same within a budget. Of embeddings from one start that cover the same operators only the first is kept.
Embeddings find_embeddings(const Graph& graph, const Pattern& pattern, const VertexCandidates& candidates,
                           SearchBudget& budget);

/// Of embeddings that cover the same operators (symmetric patterns have several) the first remains.
std::vector<Embedding> without_symmetric(std::vector<Embedding> embeddings);

}  // namespace stowage
