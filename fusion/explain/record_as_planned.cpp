// SPDX-License-Identifier: Apache-2.0
#include "fusion/explain/record_as_planned.h"

#include <algorithm>
#include <set>

namespace stowage {
namespace {

/// The cheapest ways anew. Edges stand in the order in which they were searched: those to a node before those from it.
void count_ways(SearchGraph& graph) {
  if (graph.nodes.empty() || !graph.nodes.front().best_cycles) return;
  for (std::size_t n = 1; n < graph.nodes.size(); ++n) graph.nodes[n].best_cycles.reset();
  for (const SearchGraph::Edge& edge : graph.edges) {
    const auto& before = graph.nodes[edge.from].best_cycles;
    if (!before) continue;
    const std::int64_t cycles = *before + edge.cycles;
    auto& best = graph.nodes[edge.to].best_cycles;
    best = std::min(best.value_or(cycles), cycles);
  }
}

}  // namespace

void count_as_planned(FusionRecord& record, const GroupCycles& planned) {
  if (!record.costed) return;
  std::map<std::size_t, std::int64_t> changes;  // by candidate
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    CandidateRecord& candidate = record.candidates[c];
    if (candidate.fate != CandidateFate::chosen) continue;
    const auto found = planned.find(candidate.operators);
    if (found == planned.end() || found->second == candidate.cycles) continue;
    changes[c] = found->second - candidate.cycles;
    candidate.cycles = found->second;
  }
  if (changes.empty()) return;
  std::int64_t sum = 0;
  std::int64_t saved = 0;
  for (const auto& [candidate, change] : changes) {
    sum += change;
    saved += std::min<std::int64_t>(change, 0);
  }
  for (CandidateRecord& candidate : record.candidates) {
    if (!candidate.loss) continue;
    // It would stand in the place of all of them, and the rest of their operators in groups that are not chosen.
    for (const std::size_t holder : candidate.outbid_by) {
      const auto change = changes.find(holder);
      if (change != changes.end()) *candidate.loss -= change->second;
    }
  }
  if (!record.totals.empty()) record.totals.front().cycles += sum;
  for (SearchGraph& graph : record.graphs) {
    for (SearchGraph::Edge& edge : graph.edges) {
      const auto change = changes.find(edge.candidate);
      if (change != changes.end()) edge.cycles += change->second;
    }
    count_ways(graph);
  }
  if (record.search) {
    record.search->lower_bound += saved;  // a partition holds each of them once at most
    if (sum > saved) record.search->complete = false;
  }
}

void count_first_launch(FusionRecord& record, OpId first, std::int64_t cycles) {
  if (!record.costed || cycles == 0) return;
  const auto holds_first = [&](const CandidateRecord& candidate) {
    return std::find(candidate.operators.begin(), candidate.operators.end(), first) != candidate.operators.end();
  };
  for (CandidateRecord& candidate : record.candidates) {
    if (candidate.fate != CandidateFate::refused && holds_first(candidate)) candidate.cycles += cycles;
  }
  for (StrategyTotal& total : record.totals) total.cycles += cycles;
  for (SearchGraph& graph : record.graphs) {
    std::set<std::size_t> behind;  // nodes all ways to which hold that operator
    for (SearchGraph::Edge& edge : graph.edges) {
      const bool holds = holds_first(record.candidates[edge.candidate]);
      if (holds) edge.cycles += cycles;
      if (holds || behind.contains(edge.from)) behind.insert(edge.to);
    }
    for (const std::size_t node : behind) {
      if (graph.nodes[node].best_cycles) *graph.nodes[node].best_cycles += cycles;
    }
  }
  if (record.search) record.search->lower_bound += cycles;
}

}  // namespace stowage
