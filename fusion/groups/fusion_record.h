// SPDX-License-Identifier: Apache-2.0
// What is kept of a fusion for people who ask why: every candidate group with its cost and its fate, and what the
// strategy searched. Plain data; kept in a Compilation and in its folder (docs/plan-format.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decision.h"
#include "core/ids.h"

namespace stowage {

enum class CandidateFate : std::uint8_t {
  chosen,
  refused,  ///< by a rule of structure, or by the cost (it cannot be planned)
  outbid    ///< allowed, but other groups took its operators
};
std::string_view name_of(CandidateFate fate);

struct CandidateRecord {
  std::vector<OpId> operators;         ///< of the fused graph's graph, in topological order
  std::vector<std::string> templates;  ///< all that allow it, in their order; of a refused one the first that matched
  CandidateFate fate = CandidateFate::outbid;
  std::vector<Decision> refusals;      ///< every rule that it breaks, with its numbers; of refused ones only
  std::int64_t cycles = 0;             ///< predicted; 0 of refused ones
  bool cut_short = false;              ///< of the best plan that a time limit left time for
  std::vector<std::size_t> outbid_by;  ///< chosen candidates that hold its operators; of outbid ones only
  std::optional<std::int64_t> loss;    ///< of outbid ones: by how many cycles the program gets slower (negative:
                                       ///< faster) if the groups of outbid_by give way to it and to the best
                                       ///< partition of what else they held
  friend bool operator==(const CandidateRecord&, const CandidateRecord&) = default;
};

/// A graph of partial executions, as a strategy searched it. dnnvm: one of each run of operators between barriers,
/// nodes are its tensors. exact: one of each segment, nodes are down-sets of executed operators. A path from the first
/// node to the last is a partition.
struct SearchGraph {
  struct Node {
    std::string label;                        ///< dnnvm: the tensor; exact: tensors that later groups need
    std::optional<std::int64_t> best_cycles;  ///< of the cheapest way here, from the first node
    bool on_path = false;                     ///< chosen
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Edge {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t candidate = 0;  ///< index into FusionRecord::candidates
    std::int64_t cycles = 0;
    bool on_path = false;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  std::string name;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::int64_t nodes_left_out = 0;  ///< a large graph keeps what lies on and beside the chosen path
  friend bool operator==(const SearchGraph&, const SearchGraph&) = default;
};

/// How well strategy exact could prove its choice.
struct SearchSummary {
  bool complete = true;            ///< false: somewhere the graph was too wide, and a beam was kept
  std::int64_t lower_bound = 0;    ///< no partition into these candidates costs less; complete: the choice's cycles
  std::int64_t segments = 0;       ///< independent parts that the graph fell into
  std::int64_t beam_segments = 0;  ///< of them, those where a beam was kept
  std::int64_t states = 0;         ///< down-sets visited
  std::int64_t widest = 0;         ///< most down-sets with equally many operators, over all segments
  friend bool operator==(const SearchSummary&, const SearchSummary&) = default;
};

/// What a strategy's choice costs in all, from the candidates' cycles.
struct StrategyTotal {
  std::string strategy;
  std::int64_t cycles = 0;
  std::int64_t groups = 0;
  friend bool operator==(const StrategyTotal&, const StrategyTotal&) = default;
};

/// A template of which not every group was looked at, because there are too many.
struct SearchLimit {
  std::string template_name;
  std::string message;  ///< what was left out, with its numbers
  /// The template repeats a vertex less often than the network does: that is how the template is meant, and no reason
  /// for a warning, but longer chains are no candidates.
  bool of_repeat = false;
  friend bool operator==(const SearchLimit&, const SearchLimit&) = default;
};
std::string text_of(const SearchLimit& limit);

struct FusionRecord {
  std::string strategy;
  bool costed = false;                      ///< false: there was no cost model, every group counted 1
  std::vector<CandidateRecord> candidates;  ///< in the order in which greedy asks; operators alone last
  std::vector<SearchLimit> limits;          ///< templates of which groups were left out; mostly none
  std::vector<StrategyTotal> totals;        ///< of the strategy, and of those that it tried to beat
  std::vector<SearchGraph> graphs;
  std::optional<SearchSummary> search;  ///< of exact
  friend bool operator==(const FusionRecord&, const FusionRecord&) = default;
};

/// Whether no partition into any group that the templates allow takes fewer cycles than the strategy's: it was searched
/// completely, and no limit kept groups from being candidates, or from being planned to the end.
bool is_proved(const FusionRecord& record);

/// How well the choice of strategy exact, which takes `cycles`, is proved, and over what: "proved best of all
/// partitions into the 168 groups that the templates allow", or what kept it from that. Only if record.search.
std::string proof_text(const FusionRecord& record, std::int64_t cycles);

/// The candidate of exactly these operators (in any order), or nothing.
const CandidateRecord* find_candidate(const FusionRecord& record, std::vector<OpId> operators);

}  // namespace stowage
