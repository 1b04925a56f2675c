// SPDX-License-Identifier: Apache-2.0
// Legality of a group: one table of all rules with name and sentence, and the checks of those that are about structure.
// What a group costs, and whether it fits the scratchpad, is lowering's to say (GroupCost).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fusion/facts/operator_facts.h"
#include "fusion/groups/fused_graph.h"
#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"

namespace stowage {

/// Where a rule is judged, which is where its numbers are.
enum class RuleScope : std::uint8_t {
  structure,  ///< here: the graph and the roles alone
  lowering,   ///< by planning the group (GroupCost)
  choice,     ///< by a strategy, about a group that is legal
  folding     ///< by fold_intrinsics, about folding an operator into parameters
};
std::string_view name_of(RuleScope scope);

/// Why a rule does not hold.
struct BrokenRule {
  BrokenRule(std::string why, std::string change = {}) : reason(std::move(why)), flip(std::move(change)) {}  // NOLINT
  std::string reason;  ///< with its names and numbers
  std::string flip;    ///< see Decision
};

struct LegalityRule {
  std::string_view name;
  RuleScope scope = RuleScope::structure;
  std::string_view sentence;  ///< what must hold
  /// Of the rules of structure only. Nothing where the rule holds.
  std::optional<BrokenRule> (*broken)(const GraphFacts& facts, const FusedOperator& group);
};

/// Every rule by which something is refused; those of structure first, in the order in which they are asked.
std::span<const LegalityRule> legality_rules();

/// Every rule of structure that a group breaks; empty if it is legal.
std::vector<Decision> refusals(const GraphFacts& facts, const FusedOperator& group);

/// The smallest single change, of the network or of the template, with which a group that breaks these rules of
/// structure (`broken` = refusals(facts, group)) would break none: what the one rule says itself, or what was tried.
/// Empty where no such change is known.
std::string change_of_structure(const GraphFacts& facts, const FusedOperator& group,
                                const std::vector<Decision>& broken);

}  // namespace stowage
