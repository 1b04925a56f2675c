// SPDX-License-Identifier: Apache-2.0
// Shortest path through the lattice of executable prefixes. A state is a down-set: a set of operators that holds every
// producer of its members. An edge executes one fused operator whose operands the state has computed. Every path from
// nothing to everything is a partition that can be executed, and every such partition is a path, so the shortest path
// is the best partition (the construction that IOS, MLSys 2021, searches).
//
// Of the many orders in which one partition can be executed, few are searched. Let v be the first operator, in
// topological order, that a state lacks; v's producers are all there. Either a group with v comes next, or v's group
// waits for others; then the next one is a group on which a waiting group with v depends. Every partition still has a
// path.
//
// States have room for more than a set: `key` may hold whatever else the cost of the future depends on (a layout per
// tensor, later).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "fusion/strategies/candidates.h"

namespace stowage {

/// Cycles first; of equally many, fewer groups.
struct PartitionCost {
  std::int64_t cycles = 0;
  std::int64_t groups = 0;
  friend auto operator<=>(const PartitionCost&, const PartitionCost&) = default;
};
PartitionCost cost_of(const CandidateSet& set, const std::vector<std::size_t>& choice);

struct LatticeProblem {
  std::vector<OpId> operators;          ///< to be partitioned, in topological order
  std::vector<std::size_t> candidates;  ///< that may be used; each lies within the operators
  std::vector<std::size_t> seed;        ///< a partition that is known already; empty: none
  std::size_t beam = 0;                 ///< most states kept with equally many operators; the cheapest stay, by bound
};

struct LatticeResult {
  bool found = false;               ///< false: no partition of these candidates can be executed
  std::vector<std::size_t> choice;  ///< in an order of execution, unless it is the seed
  PartitionCost cost;
  bool complete = true;  ///< nothing was dropped that could have led to a better partition
  std::int64_t lower_bound = 0;
  std::int64_t states = 0;
  std::int64_t widest = 0;
};

/// Dynamic programming over the states by number of operators. A state is dropped if its cost and a lower bound of the
/// rest reach the best partition known: the bound gives every operator a share such that no group costs less than the
/// shares of its operators, starting from each operator's least share of any group that holds it.
LatticeResult best_partition(const CandidateSet& set, const LatticeProblem& problem, const std::stop_token& stop = {});

/// Shares as above, by position in problem.operators.
std::vector<std::int64_t> lower_bound_shares(const CandidateSet& set, const LatticeProblem& problem);

}  // namespace stowage
