// SPDX-License-Identifier: Apache-2.0
// Why operators are not in one fused operator, answered from the record of a fusion: no template takes them, rules
// refuse every group that holds them, or other groups were chosen; and what would change the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fusion/facts/operator_facts.h"
#include "fusion/groups/fusion_record.h"
#include "fusion/groups/group_cost.h"
#include "fusion/templates/template.h"

namespace stowage {

enum class WhyNotAnswer : std::uint8_t {
  together,     ///< they are
  outbid,       ///< a group that holds them is allowed, but other groups were chosen
  refused,      ///< groups that hold them break rules
  no_template,  ///< no embedding of a template holds them
  view          ///< but for one of them at most they are views, which cost nothing: there is nothing to fuse
};
std::string_view name_of(WhyNotAnswer answer);

/// The pattern that fails to take some operators by the slightest differences.
struct NearestTemplate {
  std::string name;
  std::vector<std::string> vertices;     ///< of the pattern
  std::vector<std::string> differences;  ///< in words: "wants strides 1 at vertex pool, pool1 has [2,2]"
  std::string flip;                      ///< where there is one difference: the change that lifts it
};

struct WhyNot {
  WhyNotAnswer answer = WhyNotAnswer::no_template;
  std::vector<OpId> asked;  ///< in topological order
  std::vector<OpId> group;  ///< the operators that the answer is about: what was asked and what lies between
  std::vector<OpId> views;  ///< of no_template and view: those that are views; nothing is launched for them
  std::optional<std::size_t> candidate;    ///< index into FusionRecord::candidates; not of no_template
  std::size_t other_candidates = 0;        ///< further ones that hold the operators with the same fate
  std::vector<Decision> refusals;          ///< of refused: every rule that the candidate breaks
  std::optional<NearestTemplate> nearest;  ///< of no_template, where they hang together at all
  /// The smallest single change that lifts it: "3.1 KiB of LDM more"; empty where there is none.
  std::string flip;
  std::string no_flip;    ///< of refused, where nothing that was tried lifts it: what that was
  std::string plan_text;  ///< of outbid: what the group's plan does, GroupCost::plan_text
};

/// `operators` are at least two different ones of the graph that the record is about, `templates` those it was fused
/// with. Of several candidates that hold the operators it is the one that was chosen, else the allowed one that costs
/// least, else the one that breaks the fewest rules; of equal ones the smallest, then the first. With `cost`, what the
/// record was made with, a refusal of lowering is answered by changes that were tried (change_that_allows), and of an
/// outbid group it is told what its plan does (plan_text).
WhyNot why_not(const GraphFacts& facts, std::span<const FusionTemplate> templates, const FusionRecord& record,
               std::vector<OpId> operators, const GroupCost* cost = nullptr);

/// The operator that a person calls by its name or by that of an ONNX node it came from (several nodes may have become
/// one operator). An unknown name is reported, with the nearest one.
Result<OpId> find_named_operator(const Graph& graph, const std::string& name, Diagnostics& diagnostics);

/// A few lines for a person.
std::string to_text(const WhyNot& answer, const Graph& graph, const FusionRecord& record);

}  // namespace stowage
