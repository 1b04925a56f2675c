// SPDX-License-Identifier: Apache-2.0
// Strategy "dnnvm": execution path searching as DNNVM section 5 tells it. Tensors are nodes, operators are edges, a
// fused group is a further edge. Operators with several producers or several readers are barriers; between two of them
// lies a run, in which the best partition is a shortest path. Groups that reach over a barrier (an add with the one
// branch it is fused into, branches that share an input) prune edges of other runs, so they are no edges: at each
// barrier, in topological order, these special cases are tried one by one, the runs beside them are searched anew
// without the operators that are gone, and the best case stays. What was decided at a barrier is not reconsidered.
#include <algorithm>
#include <map>
#include <optional>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dag_shortest_paths.hpp>

#include "fusion/strategies/search_graph.h"
#include "fusion/strategies/strategies.h"

namespace stowage {
namespace {

/// Operators of which each but the last has the next one as its only reader, and each but the first has the one before
/// as its only producer.
struct Run {
  std::vector<OpId> operators;
  std::vector<std::size_t> groups;  ///< candidates that lie in the run, operators alone included
};

class PathSearch {
 public:
  explicit PathSearch(const CandidateSet& set)
      : set_(set), graph_(set.facts.graph), run_of_(set.single.size()), place_(set.single.size()) {
    taken_.assign(set.single.size(), false);
    find_runs();
    sort_groups();
  }

  std::vector<std::size_t> run(const std::stop_token& stop) {
    for (const auto& [barrier, cases] : cases_) {
      while (!stop.stop_requested() && try_cases(cases)) {
      }
    }
    std::vector<std::size_t> choice = crossing_;
    for (const Run& run : runs_) {
      const std::vector<std::size_t> path = shortest_path(run);
      choice.insert(choice.end(), path.begin(), path.end());
    }
    return choice;
  }

  /// The paper's picture: every allowed group is an edge from each tensor that it reads to the one that it makes.
  SearchGraph picture(const std::vector<std::size_t>& choice) const {
    SearchGraph picture;
    picture.name = "dnnvm";
    std::map<TensorId, std::size_t> node_of;
    const auto node = [&](TensorId tensor) {
      const auto [known, is_new] = node_of.try_emplace(tensor, picture.nodes.size());
      if (is_new) picture.nodes.push_back({graph_.tensor(tensor).name, std::nullopt, false});
      return known->second;
    };
    std::vector<bool> chosen(set_.candidates.size(), false);
    for (const std::size_t c : choice) chosen[c] = true;
    for (std::size_t c = 0; c < set_.candidates.size(); ++c) {
      const CandidateGroup& candidate = set_.of(c);
      if (!candidate.allowed() && !chosen[c]) continue;
      if (picture.edges.size() >= max_search_edges) {
        ++picture.nodes_left_out;
        continue;
      }
      const std::size_t to = node(graph_.op(candidate.group.operators.back()).first_output());
      if (chosen[c]) picture.nodes[to].on_path = true;
      for (const TensorId input : candidate.group.inputs) {
        if (graph_.tensor(input).constant) continue;
        const std::size_t from = node(input);
        if (chosen[c]) picture.nodes[from].on_path = true;
        picture.edges.push_back({from, to, c, set_.cycles(c), chosen[c]});
      }
    }
    return picture;
  }

 private:
  using Barrier = std::pair<std::size_t, int>;  ///< place in topological order; 0: of a join, 1: of shared input

  [[nodiscard]] std::optional<OpId> only_producer(OpId op) const {
    std::optional<OpId> only;
    for (const auto& operand : graph_.op(op).inputs) {
      if (!operand || !graph_.tensor(*operand).producer) continue;
      if (only && *only != *graph_.tensor(*operand).producer) return std::nullopt;
      only = graph_.tensor(*operand).producer;
    }
    return only;
  }

  void find_runs() {
    for (const OpId op : set_.facts.order) {
      const auto producer = only_producer(op);
      bool continues = false;
      if (producer) {
        continues = readers_of(graph_, *producer).size() == 1 && !makes_network_output(graph_, *producer);
      }
      if (!continues) runs_.emplace_back();
      const std::size_t run = continues ? run_of_[producer->index()] : runs_.size() - 1;
      run_of_[op.index()] = run;
      place_[op.index()] = runs_[run].operators.size();
      runs_[run].operators.push_back(op);
    }
  }

  void sort_groups() {
    for (std::size_t c = 0; c < set_.candidates.size(); ++c) {
      const std::vector<OpId>& members = set_.of(c).group.operators;
      if (!set_.of(c).allowed() && members.size() > 1) continue;
      if (const auto barrier = barrier_of(members)) {
        cases_[*barrier].push_back(c);
      } else {
        runs_[run_of_[members[0].index()]].groups.push_back(c);
      }
    }
  }

  /// Nothing if the operators follow each other in one run.
  [[nodiscard]] std::optional<Barrier> barrier_of(const std::vector<OpId>& members) const {
    bool crosses = false;
    std::optional<OpId> join;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const OpId op = members[i];
      crosses = crosses || run_of_[op.index()] != run_of_[members[0].index()] ||
                place_[op.index()] != place_[members[0].index()] + i;
      if (place_[op.index()] != 0) continue;
      for (const auto& operand : graph_.op(op).inputs) {
        if (!operand || !graph_.tensor(*operand).producer) continue;
        if (std::find(members.begin(), members.end(), *graph_.tensor(*operand).producer) != members.end()) join = op;
      }
    }
    if (!crosses) return std::nullopt;
    if (join) return Barrier{set_.facts.of(*join).position, 0};
    // Branches: the barrier is where the tensor that they share is first read.
    std::size_t first = set_.facts.of(members[0]).position;
    for (const auto& operand : graph_.op(members[0]).inputs) {
      if (!operand || graph_.tensor(*operand).constant) continue;
      for (const OpId reader : graph_.tensor(*operand).consumers) {
        first = std::min(first, set_.facts.of(reader).position);
      }
    }
    return Barrier{first, 1};
  }

  /// Cheapest partition of what is left of a run.
  std::vector<std::size_t> shortest_path(const Run& run) const {
    struct Way {
      std::size_t candidate = 0;
      std::int64_t cycles = 0;
    };
    using PathGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Way>;
    const std::size_t length = run.operators.size();
    PathGraph tensors(length + 1);
    for (std::size_t i = 0; i < length; ++i) {
      // An operator that is gone is a bridge between what is left before and behind it.
      if (taken_[run.operators[i].index()]) boost::add_edge(i, i + 1, Way{nobody, 0}, tensors);
    }
    for (const std::size_t c : run.groups) {
      const std::vector<OpId>& members = set_.of(c).group.operators;
      if (std::any_of(members.begin(), members.end(), [&](OpId op) { return taken_[op.index()]; })) continue;
      boost::add_edge(place_[members.front().index()], place_[members.back().index()] + 1, Way{c, set_.cycles(c)},
                      tensors);
    }
    std::vector<std::size_t> before(length + 1);
    std::vector<std::int64_t> distance(length + 1);
    const auto index = boost::get(boost::vertex_index, tensors);
    boost::dag_shortest_paths(tensors, 0,
                              boost::weight_map(boost::get(&Way::cycles, tensors))
                                  .distance_map(boost::make_iterator_property_map(distance.begin(), index))
                                  .predecessor_map(boost::make_iterator_property_map(before.begin(), index)));
    std::vector<std::size_t> path;
    for (std::size_t at = length; at > 0; at = before[at]) {
      Way best{nobody, -1};
      for (const auto edge : boost::make_iterator_range(boost::out_edges(before[at], tensors))) {
        if (boost::target(edge, tensors) != at) continue;
        if (best.cycles < 0 || tensors[edge].cycles < best.cycles) best = tensors[edge];
      }
      if (best.candidate != nobody) path.push_back(best.candidate);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  std::int64_t cost_of_runs(const std::vector<std::size_t>& runs) const {
    std::int64_t sum = 0;
    for (const std::size_t run : runs) sum += total_cycles(set_, shortest_path(runs_[run]));
    return sum;
  }

  /// Takes the special case that saves most, if any saves. False: none does.
  bool try_cases(const std::vector<std::size_t>& cases) {
    std::int64_t maximum = 0;
    std::optional<std::size_t> best;
    for (const std::size_t c : cases) {
      const std::vector<OpId>& members = set_.of(c).group.operators;
      if (std::any_of(members.begin(), members.end(), [&](OpId op) { return taken_[op.index()]; })) continue;
      std::vector<std::size_t> runs;
      for (const OpId op : members) runs.push_back(run_of_[op.index()]);
      std::sort(runs.begin(), runs.end());
      runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
      std::int64_t saved = cost_of_runs(runs);
      mark(members, true);
      saved -= set_.cycles(c) + cost_of_runs(runs);
      mark(members, false);
      if (saved > maximum && can_be_executed_with(c)) {
        maximum = saved;
        best = c;
      }
    }
    if (!best) return false;
    mark(set_.of(*best).group.operators, true);
    crossing_.push_back(*best);
    several_results_ = several_results_ || has_several_results(graph_, set_.of(*best).group);
    return true;
  }

  void mark(const std::vector<OpId>& members, bool taken) {
    for (const OpId op : members) taken_[op.index()] = taken;
  }

  /// Groups inside runs cannot close a circle, so the operators alone stand for them.
  [[nodiscard]] bool can_be_executed_with(std::size_t candidate) const {
    if (!several_results_ && !has_several_results(graph_, set_.of(candidate).group)) return true;
    std::vector<std::size_t> choice = crossing_;
    choice.push_back(candidate);
    return is_executable(set_, choice);
  }

  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  const CandidateSet& set_;
  const Graph& graph_;
  std::vector<Run> runs_;
  std::vector<std::size_t> run_of_;  ///< by operator
  std::vector<std::size_t> place_;   ///< by operator: place in its run
  std::map<Barrier, std::vector<std::size_t>> cases_;
  std::vector<bool> taken_;            ///< by operator: held by a group over a barrier
  std::vector<std::size_t> crossing_;  ///< these groups
  bool several_results_ = false;       ///< some of them has several
};

}  // namespace

Choice DnnvmFusion::choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const {
  PathSearch search(set);
  Choice choice;
  choice.candidates = search.run(stop);
  choice.graphs.push_back(search.picture(choice.candidates));
  note_choice(set, choice.candidates, trace);
  return choice;
}

}  // namespace stowage
