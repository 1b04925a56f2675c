// SPDX-License-Identifier: Apache-2.0
// The candidate groups of a graph: every set of operators that some template's embedding covers, each set once, and
// every operator alone. With the verdict of the rules of structure, then of the cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/trace.h"
#include "fusion/facts/operator_facts.h"
#include "fusion/groups/fusion_record.h"
#include "fusion/groups/group_cost.h"
#include "fusion/match/match.h"
#include "fusion/templates/template.h"

namespace stowage {

struct CandidateGroup {
  FusedOperator group;                 ///< named, and with roles, by the first template that allows it
  std::vector<std::string> templates;  ///< all that allow it, in their order; if none does, the first that matched
  std::vector<Decision> refusals;      ///< every rule of structure that it breaks, or the cost's refusal
  std::int64_t cycles = 0;             ///< if it is allowed
  bool cut_short = false;              ///< its plan is the best that was found in time
  [[nodiscard]] bool allowed() const { return refusals.empty(); }
};

struct CandidateSet {
  GraphFacts facts;
  /// In the order in which greedy asks: templates in their order, anchors in topological order, patterns longest
  /// first. Operators alone that no template matches come last, in topological order.
  std::vector<CandidateGroup> candidates;
  std::vector<std::size_t> single;  ///< by operator: the candidate of it alone, always there
  /// By operator: candidates that hold it and are allowed, ascending.
  std::vector<std::vector<std::size_t>> of_operator;
  bool costed = false;
  std::vector<SearchLimit> limits = {};  ///< templates of which groups were left out
  bool all_matched = true;               ///< false: a stop came before, and there may be more groups

  [[nodiscard]] const CandidateGroup& of(std::size_t candidate) const { return candidates[candidate]; }
  /// What a strategy counts: the cycles of an allowed candidate. An operator that cannot even be planned alone has to
  /// be somewhere; it counts `unplannable`, so that strategies avoid it where they can.
  [[nodiscard]] std::int64_t cycles(std::size_t candidate) const {
    return of(candidate).allowed() ? of(candidate).cycles : unplannable;
  }
  static constexpr std::int64_t unplannable = std::int64_t{1} << 44;
};

/// At most this number of groups of one template become candidates, so that what is planned grows linearly with the
/// network: as many for each operator as the longest repeated vertex can have copies.
constexpr std::size_t max_groups(std::size_t operators) { return std::max<std::size_t>(2'000, 32 * operators); }

/// The operators that an embedding of a template's pattern covers, but for its context, as a group.
FusedOperator embedded_group(const GraphFacts& facts, const FusionTemplate& fusion_template, const Pattern& pattern,
                             const Embedding& embedding);

/// Without a cost every group counts 1 and every view 0. Searches that were cut off go to the trace, too.
CandidateSet find_candidate_groups(const Graph& graph, const std::vector<FusionTemplate>& templates,
                                   const GroupCost* cost, TraceSink trace, const std::stop_token& stop = {});

/// Candidates whose operators all belong to `operators` and that `accepted` takes; of an operator that cannot be
/// planned alone its single as well.
std::vector<std::size_t> within(const CandidateSet& set, const std::vector<OpId>& operators,
                                const std::function<bool(std::size_t)>& accepted);

/// The cycles of a choice of candidates, added up.
std::int64_t total_cycles(const CandidateSet& set, const std::vector<std::size_t>& choice);

/// True if more than one result of a group is read outside it. Groups of one result never wait for each other in a
/// circle (a way out of one leads on from its last operator); others may.
bool has_several_results(const Graph& graph, const FusedOperator& group);

/// True if the groups of a choice, and every operator that it leaves out alone, can be put into an order of execution.
bool is_executable(const CandidateSet& set, const std::vector<std::size_t>& choice);

}  // namespace stowage
