// SPDX-License-Identifier: Apache-2.0
// The strategies themselves, one source file each; find_strategy (fusion/strategies/strategy.h) is the way to them,
// docs/fusion.md compares them.
#pragma once

#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"

namespace stowage {

/// Every operator alone.
class NoFusion : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "none"; }
  [[nodiscard]] Choice choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const override;
};

/// First fit: templates in their order, anchors in topological order, patterns longest first. A group that a rule or
/// the cost refuses, or that costs more cycles than its operators alone, gives way to the next; what no template takes
/// stays alone.
class GreedyFusion : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "greedy"; }
  [[nodiscard]] Choice choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const override;
};

/// TVM's rule (FuseOps of its Relay), for comparison: an operator joins its immediate post-dominator if everything
/// between them is element-wise enough; two convolutions or products never meet, and costs do not count. What the rule
/// makes of a graph is then covered with candidates: a group that no template allows falls into the largest that do.
class TvmFusion : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "tvm"; }
  [[nodiscard]] Choice choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const override;
};

/// DNNVM section 5: shortest paths over the runs of operators between adjacent barriers, special cases at the barriers
/// enumerated one barrier after the other. Not optimal across barriers.
class DnnvmFusion : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "dnnvm"; }
  [[nodiscard]] Choice choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const override;
};

/// The best partition into candidates, proved; where the graph is too wide, a beam, and how far it may be from the
/// best.
class ExactFusion : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "exact"; }
  [[nodiscard]] Choice choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const override;
};

/// Every operator alone, without a record of it.
std::vector<std::size_t> alone(const CandidateSet& set);

/// One record of acceptance for every chosen group.
void note_choice(const CandidateSet& set, const std::vector<std::size_t>& choice, TraceSink trace);

}  // namespace stowage
