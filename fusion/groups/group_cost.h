// SPDX-License-Identifier: Apache-2.0
// What fusion needs to know of lowering: what a group of operators costs as one fused operator, or why it cannot be
// one.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/decision.h"
#include "fusion/groups/fused_graph.h"

namespace stowage {

/// lowering implements it by planning the group.
class GroupCost {
 public:
  virtual ~GroupCost() = default;
  struct Answer {
    Decision decision;
    std::int64_t cycles = 0;
    bool cut_short = false;  ///< of the best plan that was found till costs() was stopped
  };
  [[nodiscard]] virtual Answer cost(const Graph& graph, const FusedOperator& group) const = 0;
  /// Answers for many groups, in their order. An implementation may share work among them and do it in parallel; the
  /// answers are those of cost(). When stopped, those that are missing are refused by the rule "stopped"; of operators
  /// alone some may be cut short.
  [[nodiscard]] virtual std::vector<Answer> costs(const Graph& graph, std::span<const FusedOperator> groups,
                                                  const std::stop_token& stop) const;
  /// The smallest change with which a group that is refused would be allowed: "target.ldm.bytes = 70016 (4480 more)",
  /// or of a refusal by dma-alignment "target.dma.alignment = 2 (instead of 4)".
  /// Empty where none is known. Slow, as is plan_text: for one group that a person asks about.
  [[nodiscard]] virtual std::string change_that_allows(const Graph& /*graph*/, const FusedOperator& /*group*/) const {
    return {};
  }
  /// What besides its cycles a group's plan does, where that may explain them: "uses 4 of 64 cores and computes 3.35
  /// times the operations that are needed". Empty where that is not known.
  [[nodiscard]] virtual std::string plan_text(const Graph& /*graph*/, const FusedOperator& /*group*/) const {
    return {};
  }
};

}  // namespace stowage
