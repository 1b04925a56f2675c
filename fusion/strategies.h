// SPDX-License-Identifier: Apache-2.0
// The strategies themselves; find_strategy (fusion/strategy.h) is the way to them.
#pragma once

#include "fusion/strategy.h"

namespace stowage {

/// Every operator alone.
class NoFusion : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "none"; }
  [[nodiscard]] FusedGraph fuse(const Graph& graph, const std::vector<FusionTemplate>& templates, const GroupCost* cost,
                                TraceSink trace) const override;
};

/// First fit: templates in their order, anchors in topological order, patterns longest first. A group that a rule or
/// the cost refuses gives way to the next shorter pattern; what no template takes stays alone.
class GreedyFusion : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "greedy"; }
  [[nodiscard]] FusedGraph fuse(const Graph& graph, const std::vector<FusionTemplate>& templates, const GroupCost* cost,
                                TraceSink trace) const override;
};

}  // namespace stowage
