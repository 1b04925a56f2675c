// SPDX-License-Identifier: Apache-2.0
// Every partition of a small graph, tried one by one: what strategies are held against.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"

namespace stowage::testing {

/// The cheapest way to cover every operator once with groups that do not wait for each other, by trying all.
class BruteForce {
 public:
  explicit BruteForce(const CandidateSet& set) : set_(set), owner_(set.single.size(), nobody) {
    covering_.resize(set.single.size());
    for (std::size_t c = 0; c < set.candidates.size(); ++c) {
      const std::vector<OpId>& members = set.of(c).group.operators;
      if (!set.of(c).allowed() && members.size() > 1) continue;
      for (const OpId op : members) covering_[op.index()].push_back(c);
    }
  }

  std::int64_t best() {
    cover(0, 0);
    return best_;
  }

 private:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  void cover(std::size_t op, std::int64_t cycles) {
    while (op < owner_.size() && owner_[op] != nobody) ++op;
    if (op == owner_.size()) {
      if (cycles < best_ && !has_circle()) best_ = cycles;
      return;
    }
    for (const std::size_t c : covering_[op]) {
      const std::vector<OpId>& members = set_.of(c).group.operators;
      if (std::any_of(members.begin(), members.end(), [&](OpId m) { return owner_[m.index()] != nobody; })) continue;
      for (const OpId m : members) owner_[m.index()] = c;
      cover(op + 1, cycles + set_.cycles(c));
      for (const OpId m : members) owner_[m.index()] = nobody;
    }
  }

  /// Whether some group can be reached from itself, by transitive closure.
  bool has_circle() const {
    const Graph& graph = set_.facts.graph;
    std::set<std::pair<std::size_t, std::size_t>> arcs;
    std::set<std::size_t> groups(owner_.begin(), owner_.end());
    for (std::size_t op = 0; op < owner_.size(); ++op) {
      for (const OpId reader : graph.tensor(graph.op(OpId(op)).first_output()).consumers) {
        if (owner_[op] != owner_[reader.index()]) arcs.emplace(owner_[op], owner_[reader.index()]);
      }
    }
    for (const std::size_t k : groups) {
      for (const std::size_t i : groups) {
        for (const std::size_t j : groups) {
          if (arcs.contains({i, k}) && arcs.contains({k, j})) arcs.emplace(i, j);
        }
      }
    }
    return std::any_of(groups.begin(), groups.end(), [&](std::size_t g) { return arcs.contains({g, g}); });
  }

  const CandidateSet& set_;
  std::vector<std::vector<std::size_t>> covering_;
  std::vector<std::size_t> owner_;
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();
};

/// Every operator once, and executable.
inline void check_partition(const CandidateSet& set, const std::vector<std::size_t>& choice) {
  std::vector<int> held(set.single.size(), 0);
  for (const std::size_t c : choice) {
    for (const OpId op : set.of(c).group.operators) ++held[op.index()];
  }
  CHECK(std::all_of(held.begin(), held.end(), [](int times) { return times == 1; }));
  CHECK(is_executable(set, choice));
}

/// exact is what brute force finds, the others are partitions and never better. Returns exact's cycles.
inline std::int64_t compare_with_brute_force(const CandidateSet& set) {
  const std::int64_t best = BruteForce(set).best();
  for (const std::string& name : strategy_names()) {
    INFO("strategy " << name);
    const Choice choice = find_strategy(name)->choose(set, {}, {});
    check_partition(set, choice.candidates);
    const std::int64_t cycles = total_cycles(set, choice.candidates);
    if (name == "exact") {
      CHECK(cycles == best);
      CHECK(choice.search->complete);
      CHECK(choice.search->lower_bound == best);
    } else {
      CHECK(cycles >= best);
    }
  }
  return best;
}

}  // namespace stowage::testing
