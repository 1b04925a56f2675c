// SPDX-License-Identifier: Apache-2.0
// How a whole graph is fused. A strategy chooses among the legal groups that the templates' embeddings give.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/trace.h"
#include "fusion/fused_graph.h"
#include "fusion/template.h"

namespace stowage {

/// A verdict with its reason. Every legality check returns one.
struct Decision {
  bool allowed = true;
  std::string rule;    ///< name of the rule that refused
  std::string reason;  ///< with its numbers: "needs 300 KiB, has 256 KiB"
  explicit operator bool() const { return allowed; }
  static Decision allow() { return {}; }
  static Decision refuse(std::string rule, std::string reason) { return {false, std::move(rule), std::move(reason)}; }
};

/// What fusion needs to know of lowering: the cost of a group, or why it cannot be. lowering implements it.
class GroupCost {
 public:
  virtual ~GroupCost() = default;
  struct Answer {
    Decision decision;
    std::int64_t cycles = 0;
  };
  [[nodiscard]] virtual Answer cost(const Graph& graph, const FusedOperator& group) const = 0;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Partitions the graph (as fold_intrinsics left it). Every acceptance and refusal goes to the trace. `cost` may be
  /// null (structure only).
  [[nodiscard]] virtual FusedGraph fuse(const Graph& graph, const std::vector<FusionTemplate>& templates,
                                        const GroupCost* cost, TraceSink trace) const = 0;
};

/// "none" and "greedy" for now. Nullptr for an unknown name.
const Strategy* find_strategy(std::string_view name);
std::vector<std::string> strategy_names();

}  // namespace stowage
