// SPDX-License-Identifier: Apache-2.0
// Strategy "exact": the graph falls into segments that no worthwhile group spans; in each the best partition is a
// shortest path through the lattice of executable prefixes (fusion/strategies/lattice.h).
#include <algorithm>
#include <numeric>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include "core/number_text.h"
#include "fusion/strategies/lattice.h"
#include "fusion/strategies/search_graph.h"
#include "fusion/strategies/strategies.h"

namespace stowage {
namespace {

/// States that are kept with equally many operators: fewer where there are many operators, so that the time stays
/// bounded.
std::size_t beam_of(std::size_t operators) { return std::clamp<std::size_t>(100'000 / operators, 50, 4'000); }

/// Dominance: a group whose own parts are cheaper never appears in a best partition, because the parts can always take
/// its place. Such groups are left out, which also lets the graph fall into more segments.
class Worthwhile {
 public:
  explicit Worthwhile(const CandidateSet& set) : set_(set), parts_(set.candidates.size()) {
    is_.assign(set.candidates.size(), false);
    for (const std::size_t single : set.single) is_[single] = true;
    std::vector<std::size_t> by_size;
    for (std::size_t c = 0; c < set.candidates.size(); ++c) {
      if (set.of(c).allowed() && set.of(c).group.operators.size() > 1) by_size.push_back(c);
    }
    std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
      return set.of(a).group.operators.size() < set.of(b).group.operators.size();
    });
    for (const std::size_t c : by_size) judge(c);
  }

  [[nodiscard]] bool is(std::size_t candidate) const { return is_[candidate]; }
  [[nodiscard]] bool is_fused(std::size_t candidate) const {
    return is_[candidate] && set_.of(candidate).group.operators.size() > 1;
  }

  /// The same partition with every group that its parts beat replaced by them.
  [[nodiscard]] std::vector<std::size_t> improved(const std::vector<std::size_t>& choice) const {
    std::vector<std::size_t> better;
    for (const std::size_t c : choice) {
      if (is_[c]) {
        better.push_back(c);
      } else {
        better.insert(better.end(), parts_[c].begin(), parts_[c].end());
      }
    }
    return better;
  }

 private:
  void judge(std::size_t candidate) {
    LatticeProblem problem;
    problem.operators = set_.of(candidate).group.operators;
    problem.candidates = within(set_, problem.operators, [&](std::size_t c) { return static_cast<bool>(is_[c]); });
    problem.seed = {candidate};
    const LatticeResult best = best_partition(set_, problem);
    if (best.cost.cycles < set_.cycles(candidate)) {
      parts_[candidate] = best.choice;
    } else {
      is_[candidate] = true;
    }
  }

  const CandidateSet& set_;
  std::vector<bool> is_;
  std::vector<std::vector<std::size_t>> parts_;
};

/// Operators by segment, in an order in which no segment depends on a later one: strong components of the graph in
/// which the operators of every worthwhile group are joined in a circle. No group spans two of them, and they do not
/// wait for each other, so their best partitions together are the best of the whole.
std::vector<std::vector<OpId>> segments_of(const CandidateSet& set, const Worthwhile& worthwhile) {
  const Graph& graph = set.facts.graph;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> joined(graph.operators().size());
  for (const OpId op : set.facts.order) {
    for (const OpId reader : readers_of(graph, op)) {
      boost::add_edge(op.index(), reader.index(), joined);
    }
  }
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    if (!worthwhile.is_fused(c)) continue;
    const std::vector<OpId>& members = set.of(c).group.operators;
    for (std::size_t i = 0; i < members.size(); ++i) {
      boost::add_edge(members[i].index(), members[(i + 1) % members.size()].index(), joined);
    }
  }
  std::vector<std::size_t> component(graph.operators().size());
  const auto index = boost::get(boost::vertex_index, joined);
  const std::size_t count =
      boost::strong_components(joined, boost::make_iterator_property_map(component.begin(), index));
  std::vector<std::vector<OpId>> segments(count);  // numbered from the last one to the first
  for (const OpId op : set.facts.order) segments[count - 1 - component[op.index()]].push_back(op);
  return segments;
}

}  // namespace

Choice ExactFusion::choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const {
  const Worthwhile worthwhile(set);
  Choice choice;
  // The other strategies' results are partitions that must be beaten; each segment starts from the best of them there.
  std::vector<std::vector<std::size_t>> seeds;
  for (const char* name : {"none", "greedy", "tvm", "dnnvm"}) {
    const Strategy* other = find_strategy(name);
    check(other != nullptr, "exact seeds from every other strategy");
    const std::vector<std::size_t> found = other->choose(set, {}, stop).candidates;
    choice.compared.push_back({name, total_cycles(set, found), static_cast<std::int64_t>(found.size())});
    check(is_executable(set, found), "a strategy chose groups that wait for each other");
    seeds.push_back(worthwhile.improved(found));
  }

  const std::vector<std::vector<OpId>> segments = segments_of(set, worthwhile);
  std::vector<std::size_t> segment_of(set.single.size());
  for (std::size_t s = 0; s < segments.size(); ++s) {
    for (const OpId op : segments[s]) segment_of[op.index()] = s;
  }
  std::vector<std::vector<std::vector<std::size_t>>> seeds_of(segments.size());
  for (const std::vector<std::size_t>& seed : seeds) {
    for (auto& of_segment : seeds_of) of_segment.emplace_back();
    for (const std::size_t c : seed) seeds_of[segment_of[set.of(c).group.operators[0].index()]].back().push_back(c);
  }

  SearchSummary summary;
  summary.segments = static_cast<std::int64_t>(segments.size());
  SearchGraphWriter graph(set, "exact");
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (stop.stop_requested()) return {alone(set), {}, {}, {}};
    LatticeProblem problem;
    problem.operators = segments[s];
    problem.candidates = within(set, segments[s], [&](std::size_t c) { return worthwhile.is(c); });
    problem.beam = beam_of(segments[s].size());
    for (std::vector<std::size_t>& seed : seeds_of[s]) {
      if (problem.seed.empty() || cost_of(set, seed) < cost_of(set, problem.seed)) problem.seed = std::move(seed);
    }
    const LatticeResult best = best_partition(set, problem, stop);
    check(best.found, "the operators alone are a partition");
    graph.add_segment(problem.operators, problem.candidates, best.choice);
    choice.candidates.insert(choice.candidates.end(), best.choice.begin(), best.choice.end());
    summary.lower_bound += best.lower_bound;
    summary.states += best.states;
    summary.widest = std::max(summary.widest, best.widest);
    if (best.complete) continue;
    summary.complete = false;
    ++summary.beam_segments;
    const auto name = [&](OpId op) { return set.facts.graph.op(op).name; };
    trace.add(name(segments[s].front()),
              BeamKept{name(segments[s].front()), name(segments[s].back()), best.widest,
                       static_cast<std::int64_t>(problem.beam), best.cost.cycles, best.lower_bound});
  }
  trace.add(
      set.facts.graph.name(),
      PartitionFound{static_cast<std::int64_t>(set.single.size()), summary.segments, summary.beam_segments,
                     summary.states, total_cycles(set, choice.candidates), summary.lower_bound, !set.limits.empty()});
  choice.search = summary;
  choice.graphs.push_back(std::move(graph).finish());
  note_choice(set, choice.candidates, trace);
  return choice;
}

}  // namespace stowage
