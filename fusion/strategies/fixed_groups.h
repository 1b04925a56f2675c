// SPDX-License-Identifier: Apache-2.0
// Groups that a person fixed: the strategy decides about the other operators only.
#pragma once

#include <cstddef>
#include <vector>

#include "core/decision.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"

namespace stowage {

/// The candidates of exactly the fixed groups' operators, in their order; what cannot be is in `refused` instead.
struct FixedCandidates {
  std::vector<std::size_t> candidates;
  std::vector<FixedRefusal> refused;
};
/// Every operator is in one fixed group at most; the operators of a group come in any order.
FixedCandidates find_fixed(const CandidateSet& set, const std::vector<std::vector<OpId>>& fixed);

/// The same candidates; of those that hold an operator of a fixed one only the fixed ones are left, the others are
/// refused by the rule "fixed" (and an operator alone therefore counts CandidateSet::unplannable).
CandidateSet with_fixed(CandidateSet set, const std::vector<std::size_t>& fixed);

/// What a strategy chose of such a set, with every fixed group in it, whether the strategy looks at costs or not.
Choice with_fixed(const CandidateSet& set, Choice choice, const std::vector<std::size_t>& fixed);

/// Of a choice that no order can execute: each fixed group that waits for itself, refused by the rule "circle", with
/// the groups through which it does.
std::vector<FixedRefusal> find_circles(const CandidateSet& set, const std::vector<std::size_t>& choice,
                                       const std::vector<std::size_t>& fixed);

}  // namespace stowage
