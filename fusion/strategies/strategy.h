// SPDX-License-Identifier: Apache-2.0
// How a whole graph is fused. A strategy chooses among the candidate groups that the templates' embeddings give
// (fusion/strategies/candidates.h); all strategies draw from the same set, so that their results can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/trace.h"
#include "fusion/groups/fused_graph.h"
#include "fusion/groups/fusion_record.h"
#include "fusion/groups/group_cost.h"
#include "fusion/templates/template.h"

namespace stowage {

struct CandidateSet;

/// What a strategy chose: candidates that hold every operator once and do not wait for each other in a circle.
struct Choice {
  std::vector<std::size_t> candidates;  ///< indices into CandidateSet::candidates
  std::vector<SearchGraph> graphs;      ///< what was searched, for display; of dnnvm and exact
  std::optional<SearchSummary> search;  ///< of exact: whether the choice is proved best
  std::vector<StrategyTotal> compared;  ///< of exact: what the others' choices cost
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Every acceptance, and what the strategy considered and refused, goes to the trace. When stopped it returns the
  /// operators alone.
  [[nodiscard]] virtual Choice choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const = 0;

  /// Partitions the graph (as fold_intrinsics left it). `cost` may be null: then every group costs 1, views nothing.
  [[nodiscard]] FusedGraph fuse(const Graph& graph, const std::vector<FusionTemplate>& templates, const GroupCost* cost,
                                TraceSink trace) const;
};

/// A group that a person fixed and that cannot be.
struct FixedRefusal {
  std::size_t group = 0;  ///< index among the fixed ones
  std::vector<Decision> refusals;
};

struct Fusion {
  FusedGraph fused;
  FusionRecord record;
  std::vector<FixedRefusal> refused;  ///< if there are any, the rest is empty
};

/// The same with the record of what could have been chosen. `fixed`: operators of groups that are to be chosen just so,
/// each operator in one of them at most; the strategy decides about the rest.
Fusion fuse_graph(const Graph& graph, const std::vector<FusionTemplate>& templates, const GroupCost* cost,
                  const Strategy& strategy, TraceSink trace, const std::stop_token& stop = {},
                  const std::vector<std::vector<OpId>>& fixed = {});

/// "none", "greedy", "tvm", "dnnvm", "exact" (docs/fusion.md). Nullptr for an unknown name.
const Strategy* find_strategy(std::string_view name);
std::vector<std::string> strategy_names();

}  // namespace stowage
