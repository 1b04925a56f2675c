// SPDX-License-Identifier: Apache-2.0
#include "fusion/fixed_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "fusion/group.h"

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
                               {Decision::refuse("fixed", fmt::format("no template takes {} as one group",
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
            Decision::refuse("fixed", fmt::format("{} is fixed to be in {}", set.facts.graph.op(op).name,
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

}  // namespace stowage
