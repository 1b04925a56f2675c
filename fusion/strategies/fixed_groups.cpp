// SPDX-License-Identifier: Apache-2.0
#include "fusion/strategies/fixed_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include "core/decision_rules.h"
#include "fusion/groups/group.h"

namespace stowage {

FixedCandidates find_fixed(const CandidateSet& set, const std::vector<std::vector<OpId>>& fixed) {
  std::map<std::vector<OpId>, std::size_t> known;
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    std::vector<OpId> operators = set.of(c).group.operators;
    std::sort(operators.begin(), operators.end());
    known.emplace(std::move(operators), c);
  }
  FixedCandidates found;
  for (std::size_t g = 0; g < fixed.size(); ++g) {
    std::vector<OpId> operators = fixed[g];
    std::sort(operators.begin(), operators.end());
    const auto candidate = known.find(operators);
    if (candidate == known.end()) {
      found.refused.push_back({g,
                               {Decision::refuse(fixed_rule, fmt::format("no template takes {} as one group",
                                                                         names_of(set.facts.graph, fixed[g])))}});
    } else if (!set.of(candidate->second).allowed()) {
      found.refused.push_back({g, set.of(candidate->second).refusals});
    } else {
      found.candidates.push_back(candidate->second);
    }
  }
  return found;
}

CandidateSet with_fixed(CandidateSet set, const std::vector<std::size_t>& fixed) {
  std::set<std::size_t> touched;
  for (const std::size_t candidate : fixed) {
    const FusedOperator& group = set.of(candidate).group;
    for (const OpId op : group.operators) {
      for (const std::size_t other : set.of_operator[op.index()]) {
        if (other == candidate) continue;
        set.candidates[other].refusals.push_back(
            Decision::refuse(fixed_rule, fmt::format("{} is fixed to be in {}", set.facts.graph.op(op).name,
                                                     names_of(set.facts.graph, group.operators))));
        touched.insert(other);
      }
      set.of_operator[op.index()] = {candidate};
    }
  }
  for (const std::size_t other : touched) {
    for (const OpId op : set.of(other).group.operators) std::erase(set.of_operator[op.index()], other);
  }
  return set;
}

Choice with_fixed(const CandidateSet& set, Choice choice, const std::vector<std::size_t>& fixed) {
  for (const std::size_t candidate : fixed) {
    const std::vector<OpId>& operators = set.of(candidate).group.operators;
    std::erase_if(choice.candidates, [&](std::size_t chosen) {
      return std::find(operators.begin(), operators.end(), set.of(chosen).group.operators.front()) != operators.end();
    });
    choice.candidates.push_back(candidate);
  }
  // What the others made of it is no comparison: they may have left fixed groups in pieces.
  std::erase_if(choice.compared, [](const StrategyTotal& total) { return total.cycles >= CandidateSet::unplannable; });
  for (SearchGraph& graph : choice.graphs) {
    std::erase_if(graph.edges, [](const SearchGraph::Edge& edge) { return edge.cycles >= CandidateSet::unplannable; });
  }
  return choice;
}

std::vector<FixedRefusal> find_circles(const CandidateSet& set, const std::vector<std::size_t>& choice,
                                       const std::vector<std::size_t>& fixed) {
  const Graph& graph = set.facts.graph;
  // Groups in the order of the choice; operators that none of them holds behind them.
  std::vector<std::size_t> owner(graph.operators().size());
  for (std::size_t op = 0; op < owner.size(); ++op) owner[op] = choice.size() + op;
  for (std::size_t g = 0; g < choice.size(); ++g) {
    for (const OpId op : set.of(choice[g]).group.operators) owner[op.index()] = g;
  }
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> waiting(choice.size() + owner.size());
  for (const OpId op : set.facts.order) {
    for (const OpId reader : readers_of(graph, op)) {
      boost::add_edge(owner[op.index()], owner[reader.index()], waiting);
    }
  }
  std::vector<std::size_t> circle(boost::num_vertices(waiting));
  const auto index = boost::get(boost::vertex_index, waiting);
  boost::strong_components(waiting, boost::make_iterator_property_map(circle.begin(), index));
  std::vector<FixedRefusal> found;
  for (std::size_t f = 0; f < fixed.size(); ++f) {
    const auto own = static_cast<std::size_t>(std::find(choice.begin(), choice.end(), fixed[f]) - choice.begin());
    check(own < choice.size(), "a fixed group is chosen");
    std::set<std::string> others;
    for (const OpId op : set.facts.order) {
      const std::size_t other = owner[op.index()];
      if (other == own || circle[other] != circle[own]) continue;
      others.insert(other < choice.size() ? names_of(graph, set.of(choice[other]).group.operators) : graph.op(op).name);
    }
    if (others.empty()) continue;
    found.push_back({f,
                     {Decision::refuse("circle", fmt::format("{} waits for itself, by way of {}",
                                                             names_of(graph, set.of(fixed[f]).group.operators),
                                                             fmt::join(others, " and ")))}});
  }
  return found;
}

}  // namespace stowage
