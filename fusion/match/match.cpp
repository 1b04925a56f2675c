// SPDX-License-Identifier: Apache-2.0
#include "fusion/match/match.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/graph_boost.h"
#include "fusion/templates/constraints.h"

namespace stowage {
namespace {

/// The pattern's vertices in breadth-first order from the start, each with the edge by which it was reached.
struct Visit {
  std::size_t vertex = 0;
  std::optional<std::size_t> edge;  ///< index into Pattern::edges; none for the start
};

std::vector<Visit> breadth_first(const Pattern& pattern, std::size_t start) {
  std::vector<Visit> order{{start, std::nullopt}};
  std::vector<bool> seen(pattern.vertices.size(), false);
  seen[start] = true;
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::size_t e = 0; e < pattern.edges.size(); ++e) {
      const PatternEdge& edge = pattern.edges[e];
      const std::size_t here = order[at].vertex;
      if (edge.from != here && edge.to != here) continue;
      const std::size_t there = edge.from == here ? edge.to : edge.from;
      if (seen[there]) continue;
      seen[there] = true;
      order.push_back({there, e});
    }
  }
  check(order.size() == pattern.vertices.size(), "a pattern is connected");
  return order;
}

bool slot_fits(const PatternEdge& edge, const GraphEdge& operand) { return !edge.slot || edge.slot == operand.slot; }

/// SubgraphSearch of Algorithm 1 for one pattern.
class SubgraphSearch {
 public:
  /// Without a budget every embedding is found.
  SubgraphSearch(const Graph& graph, const Pattern& pattern, const VertexCandidates& candidates, SearchBudget* budget)
      : boost_(graph.storage().boost),
        pattern_(pattern),
        candidates_(candidates),
        budget_(budget),
        match_(pattern.vertices.size()),
        matched_(graph.operators().size(), false) {}

  Embeddings run() {
    std::size_t start = 0;
    for (std::size_t v = 0; v < pattern_.vertices.size(); ++v) {
      if (members(v).empty()) return {};
      if (members(v).size() < members(start).size()) start = v;
    }
    order_ = breadth_first(pattern_, start);
    for (const OpId op : members(start)) {
      tests_left_ = budget_ != nullptr ? budget_->tests[op.index()] : SearchBudget::tests_per_start;
      start_ = op;
      cut_off_ = false;
      kept_.clear();
      ++result_.tests;
      assign(start, op);
      search(1);
      unassign(start);
      if (budget_ != nullptr) budget_->tests[op.index()] = tests_left_;
      if (cut_off_) result_.given_up.push_back(op);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] const std::vector<OpId>& members(std::size_t vertex) const {
    return candidates_.members[pattern_.vertices[vertex].source];
  }

  void assign(std::size_t vertex, OpId op) {
    match_[vertex] = op;
    matched_[op.index()] = true;
  }

  void unassign(std::size_t vertex) {
    matched_[match_[vertex]->index()] = false;
    match_[vertex].reset();
  }

  void search(std::size_t depth) {
    if (depth == order_.size()) return keep();
    const std::size_t vertex = order_[depth].vertex;
    for (const OpId op : neighbours(pattern_.edges[*order_[depth].edge], vertex)) {
      if (tests_left_ == 0) cut_off_ = true;
      if (cut_off_) return;
      --tests_left_;
      ++result_.tests;
      if (!fits(vertex, op)) continue;
      assign(vertex, op);
      search(depth + 1);
      unassign(vertex);
    }
  }

  void keep() {
    Embedding embedding;
    for (const auto& op : match_) embedding.push_back(*op);
    if (budget_ != nullptr) {
      Embedding covered = embedding;
      std::sort(covered.begin(), covered.end());
      if (kept_.contains(covered)) return;
      if (budget_->embeddings[start_.index()] == 0) {
        cut_off_ = true;
        return;
      }
      --budget_->embeddings[start_.index()];
      kept_.insert(std::move(covered));
    }
    result_.found.push_back(std::move(embedding));
  }

  /// Operators joined to the other, matched end of an edge, ascending, each once.
  std::vector<OpId> neighbours(const PatternEdge& edge, std::size_t vertex) const {
    std::vector<OpId> found;
    if (edge.to == vertex) {
      for (const auto out : boost::make_iterator_range(boost::out_edges(match_[edge.from]->index(), boost_))) {
        if (slot_fits(edge, boost_[out])) found.emplace_back(boost::target(out, boost_));
      }
    } else {
      for (const auto in : boost::make_iterator_range(boost::in_edges(match_[edge.to]->index(), boost_))) {
        if (slot_fits(edge, boost_[in])) found.emplace_back(boost::source(in, boost_));
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  [[nodiscard]] bool fits(std::size_t vertex, OpId op) const {
    if (matched_[op.index()] || !candidates_.fits[pattern_.vertices[vertex].source][op.index()]) return false;
    if (!keeps_order(vertex, op)) return false;
    return std::all_of(pattern_.edges.begin(), pattern_.edges.end(), [&](const PatternEdge& edge) {
      if (edge.to == vertex && match_[edge.from]) return has_edge(edge, *match_[edge.from], op);
      if (edge.from == vertex && match_[edge.to]) return has_edge(edge, op, *match_[edge.to]);
      return true;
    });
  }

  /// Anchors of branches are matched in ascending order.
  [[nodiscard]] bool keeps_order(std::size_t vertex, OpId op) const {
    const auto own = std::find(pattern_.branches.begin(), pattern_.branches.end(), vertex);
    if (own == pattern_.branches.end()) return true;
    const auto lies = [&](auto begin, auto end, auto&& right) {
      return std::all_of(begin, end, [&](std::size_t other) { return !match_[other] || right(*match_[other]); });
    };
    return lies(pattern_.branches.begin(), own, [&](OpId other) { return other < op; }) &&
           lies(own + 1, pattern_.branches.end(), [&](OpId other) { return op < other; });
  }

  [[nodiscard]] bool has_edge(const PatternEdge& edge, OpId from, OpId to) const {
    // In-edges, because an operator has few operands but may have many consumers.
    const auto in_edges = boost::make_iterator_range(boost::in_edges(to.index(), boost_));
    return std::any_of(in_edges.begin(), in_edges.end(), [&](const auto in) {
      return boost::source(in, boost_) == from.index() && slot_fits(edge, boost_[in]);
    });
  }

  const BoostGraph& boost_;
  const Pattern& pattern_;
  const VertexCandidates& candidates_;
  SearchBudget* budget_;  ///< null: none
  std::vector<Visit> order_;
  std::vector<std::optional<OpId>> match_;
  std::vector<bool> matched_;
  OpId start_;
  std::int64_t tests_left_ = 0;  ///< of the search from start_
  bool cut_off_ = false;
  std::set<Embedding> kept_;  ///< from start_, sorted, where there is a budget
  Embeddings result_;
};

}  // namespace

VertexCandidates find_candidates(const GraphFacts& facts, const FusionTemplate& fusion_template) {
  VertexCandidates candidates;
  for (const TemplateVertex& vertex : fusion_template.vertices) {
    std::vector<bool> fits(facts.graph.operators().size(), false);
    std::vector<OpId> members;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      fits[i] = accepts(facts, vertex, OpId(i));
      if (fits[i]) members.emplace_back(i);
    }
    candidates.fits.push_back(std::move(fits));
    candidates.members.push_back(std::move(members));
  }
  return candidates;
}

Embeddings find_embeddings(const Graph& graph, const Pattern& pattern, const VertexCandidates& candidates) {
  return SubgraphSearch(graph, pattern, candidates, nullptr).run();
}

Embeddings find_embeddings(const Graph& graph, const Pattern& pattern, const VertexCandidates& candidates,
                           SearchBudget& budget) {
  return SubgraphSearch(graph, pattern, candidates, &budget).run();
}

std::vector<Embedding> without_symmetric(std::vector<Embedding> embeddings) {
  std::set<Embedding> seen;
  std::vector<Embedding> kept;
  for (Embedding& embedding : embeddings) {
    Embedding key = embedding;
    std::sort(key.begin(), key.end());
    if (seen.insert(std::move(key)).second) kept.push_back(std::move(embedding));
  }
  return kept;
}

}  // namespace stowage
