// SPDX-License-Identifier: Apache-2.0
// Structural legality of a group: one table of rules with name, sentence and check. What a group costs, and whether it
// fits the scratchpad, is lowering's to say (GroupCost).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fusion/fused_graph.h"
#include "fusion/group.h"
#include "fusion/operator_facts.h"
#include "fusion/strategy.h"

namespace stowage {

struct LegalityRule {
  std::string_view name;
  std::string_view sentence;  ///< what must hold
  /// Nothing where the rule holds, else the reason with its names and numbers.
  std::optional<std::string> (*broken)(const GraphFacts& facts, const FusedOperator& group);
};

/// In the order in which they are asked.
std::span<const LegalityRule> legality_rules();

/// Every rule that a group breaks; empty if it is legal.
std::vector<Decision> refusals(const GraphFacts& facts, const FusedOperator& group);

}  // namespace stowage
