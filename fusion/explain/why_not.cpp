// SPDX-License-Identifier: Apache-2.0
#include "fusion/explain/why_not.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/template_names.h"
#include "fusion/explain/nearest_template.h"
#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "fusion/rules/legality.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/input_branches.h"

namespace stowage {
namespace {

bool holds_all(const CandidateRecord& candidate, const std::vector<OpId>& operators) {
  return std::all_of(operators.begin(), operators.end(), [&](OpId op) {
    return std::find(candidate.operators.begin(), candidate.operators.end(), op) != candidate.operators.end();
  });
}

/// Which of two candidates with the same fate says more about why.
bool says_more(const CandidateRecord& a, const CandidateRecord& b) {
  if (a.fate == CandidateFate::refused && a.refusals.size() != b.refusals.size()) {
    return a.refusals.size() < b.refusals.size();
  }
  if (a.fate == CandidateFate::outbid && a.loss != b.loss) {
    if (!a.loss || !b.loss) return a.loss.has_value();
    return *a.loss < *b.loss;
  }
  return a.operators.size() < b.operators.size();
}

WhyNotAnswer answer_of(CandidateFate fate) {
  switch (fate) {
    case CandidateFate::chosen: return WhyNotAnswer::together;
    case CandidateFate::outbid: return WhyNotAnswer::outbid;
    case CandidateFate::refused: return WhyNotAnswer::refused;
  }
  fail_check("unknown fate of a candidate");
}

/// "conv1 + relu1 (convolution, 1,234 cycles)".
std::string candidate_text(const Graph& graph, const FusionRecord& record, std::size_t index) {
  const CandidateRecord& candidate = record.candidates[index];
  std::string text = names_of(graph, candidate.operators);
  std::vector<std::string> facts;
  if (!candidate.templates.empty()) facts.push_back(candidate.templates.front());
  if (record.costed && candidate.fate != CandidateFate::refused) {
    facts.push_back(fmt::format("{} cycles", candidate.cycles));
  }
  if (!facts.empty()) text += fmt::format(" ({})", fmt::join(facts, ", "));
  return text;
}

std::string loss_text(const CandidateRecord& candidate, const FusionRecord& record) {
  if (!record.costed) return "nothing was costed, so any legal choice was as good";
  if (!candidate.loss) return "what it would cost in its place was not worked out";
  if (*candidate.loss == 0) return "in its place the program would take just as long";
  if (*candidate.loss > 0) return fmt::format("in its place the program would take {} cycles more", *candidate.loss);
  const std::string less = fmt::format("in its place the program would take {} cycles less", -*candidate.loss);
  if (record.strategy == "none") return less;
  return fmt::format("{}: {} does not find every better choice", less, record.strategy);
}

std::string others_text(const WhyNot& answer, std::string_view what) {
  if (answer.other_candidates == 0) return {};
  const bool one = answer.other_candidates == 1;
  return fmt::format("  {} further group{} with them {} {} too\n", answer.other_candidates, one ? "" : "s",
                     one ? "is" : "are", what);
}

/// What a view is instead of a kernel (docs/views.md).
std::string view_text(const Graph& graph, OpId id) {
  const Operator& op = graph.op(id);
  const std::string& operand = graph.tensor(op.inputs.front().value()).name;
  const std::string& result = graph.tensor(op.first_output()).name;
  if (op.kind == "Concat") {
    return fmt::format("{} ({}): what it joins is written straight into {}", op.name, op.kind, result);
  }
  if (op.kind == "Slice" || op.kind == "Split") {
    return fmt::format("{} ({}): {} lies inside {}, its readers skip the rest", op.name, op.kind, result, operand);
  }
  return fmt::format("{} ({}): {} is the memory of {}", op.name, op.kind, result, operand);
}

std::string views_text(const Graph& graph, const std::vector<OpId>& views) {
  if (views.empty()) return {};
  const bool one = views.size() == 1;
  std::string text =
      fmt::format("  {} resolved before groups are searched: nothing is launched for {}\n",
                  one ? "a view costs nothing, it is" : "views cost nothing, they are", one ? "it" : "them");
  for (const OpId view : views) text += fmt::format("    {}\n", view_text(graph, view));
  return text;
}

std::string nearest_text(const NearestTemplate& nearest) {
  std::string text = fmt::format("  nearest is template {} ({})\n", nearest.name, fmt::join(nearest.vertices, ", "));
  for (const std::string& difference : nearest.differences) text += fmt::format("    {}\n", difference);
  return text;
}

RuleScope scope_of(const Decision& refusal) {
  const auto rules = legality_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const auto& row) { return row.name == refusal.rule; });
  return rule == rules.end() ? RuleScope::choice : rule->scope;
}

/// A group that rules of structure refused, in the roles in which they did; the record does not keep roles.
std::optional<FusedOperator> in_its_roles(const GraphFacts& facts, std::span<const FusionTemplate> templates,
                                          const CandidateRecord& candidate) {
  const auto from = std::find_if(templates.begin(), templates.end(), [&](const FusionTemplate& one) {
    return !candidate.templates.empty() && one.name == candidate.templates.front();
  });
  if (from == templates.end()) return std::nullopt;
  VertexCandidates fitting = find_candidates(facts, *from);
  for (std::size_t v = 0; v < from->vertices.size(); ++v) {
    if (from->vertices[v].role == VertexRole::context) continue;
    std::erase_if(fitting.members[v], [&](OpId op) {
      const bool inside = holds_all(candidate, {op});
      if (!inside) fitting.fits[v][op.index()] = false;
      return !inside;
    });
  }
  SearchBudget budget(facts.graph.operators().size());
  for (const Pattern& pattern : expand(*from)) {
    std::vector<Embedding> embeddings = find_embeddings(facts.graph, pattern, fitting, budget).found;
    for (Embedding& more : branches_of_inputs(facts, *from, pattern, fitting)) embeddings.push_back(std::move(more));
    for (const Embedding& embedding : embeddings) {
      FusedOperator group = embedded_group(facts, *from, pattern, embedding);
      if (group.operators == candidate.operators && refusals(facts, group) == candidate.refusals) return group;
    }
  }
  return std::nullopt;
}

/// A group that lowering can be asked about: for it roles do not matter.
FusedOperator group_of(const GraphFacts& facts, const CandidateRecord& candidate) {
  std::vector<Member> members;
  for (const OpId op : candidate.operators) members.push_back({op, {}});
  const std::string name = candidate.templates.empty() ? std::string(single_template) : candidate.templates.front();
  return make_group(facts, name, candidate.operators.back(), members);
}

/// Whether all but the last are read inside the group, so that lowering can be asked about it without roles. Branches
/// are not so, nor may be what stands in a record that was damaged.
bool can_be_planned(const GraphFacts& facts, const CandidateRecord& candidate) {
  const std::vector<OpId>& operators = candidate.operators;
  for (std::size_t i = 0; i + 1 < operators.size(); ++i) {
    const std::vector<OpId> consumers = readers_of(facts.graph, operators[i]);
    const bool is_read = std::any_of(consumers.begin(), consumers.end(), [&](OpId reader) {
      return std::find(operators.begin() + static_cast<std::ptrdiff_t>(i) + 1, operators.end(), reader) !=
             operators.end();
    });
    if (!is_read) return false;
  }
  return true;
}

struct Change {
  std::string flip;
  std::string none;  ///< where there is none: what was tried
};

/// The single change that makes a refused candidate legal. What lowering refused is tried where there is a way to.
Change change_of(const GraphFacts& facts, std::span<const FusionTemplate> templates, const CandidateRecord& candidate,
                 const GroupCost* cost) {
  const std::vector<Decision>& broken = candidate.refusals;
  if (scope_of(broken.front()) == RuleScope::structure) {
    const auto group = in_its_roles(facts, templates, candidate);
    std::string flip = group ? change_of_structure(facts, *group, broken) : broken.size() == 1 ? broken[0].flip : "";
    return {std::move(flip), group ? "no single change that is known" : ""};
  }
  if (broken.size() != 1) return {};
  if (cost == nullptr || scope_of(broken[0]) != RuleScope::lowering) return {broken[0].flip, {}};
  const std::string tried = broken[0].rule == dma_alignment_rule ? "no smaller dma.alignment" : "no more LDM";
  return {cost->change_that_allows(facts.graph, group_of(facts, candidate)), tried};
}

}  // namespace

std::string_view name_of(WhyNotAnswer answer) {
  switch (answer) {
    case WhyNotAnswer::together: return "together";
    case WhyNotAnswer::outbid: return "outbid";
    case WhyNotAnswer::refused: return "refused";
    case WhyNotAnswer::no_template: return "no-template";
    case WhyNotAnswer::view: return "view";
  }
  fail_check("unknown answer");
}

WhyNot why_not(const GraphFacts& facts, std::span<const FusionTemplate> templates, const FusionRecord& record,
               std::vector<OpId> operators, const GroupCost* cost) {
  check(operators.size() > 1, "why not one operator");
  std::sort(operators.begin(), operators.end(),
            [&](OpId a, OpId b) { return facts.of(a).position < facts.of(b).position; });
  WhyNot answer;
  answer.asked = operators;
  for (const CandidateFate fate : {CandidateFate::chosen, CandidateFate::outbid, CandidateFate::refused}) {
    std::size_t found = 0;
    for (std::size_t c = 0; c < record.candidates.size(); ++c) {
      const CandidateRecord& candidate = record.candidates[c];
      if (candidate.fate != fate || !holds_all(candidate, operators)) continue;
      ++found;
      if (!answer.candidate || says_more(candidate, record.candidates[*answer.candidate])) answer.candidate = c;
    }
    if (found == 0) continue;
    const CandidateRecord& candidate = record.candidates[*answer.candidate];
    answer.answer = answer_of(fate);
    answer.group = candidate.operators;
    answer.other_candidates = found - 1;
    answer.refusals = candidate.refusals;
    const GroupCost* const planning = can_be_planned(facts, candidate) ? cost : nullptr;
    if (fate == CandidateFate::outbid && planning != nullptr) {
      answer.plan_text = planning->plan_text(facts.graph, group_of(facts, candidate));
    }
    if (fate != CandidateFate::refused || candidate.refusals.empty()) return answer;
    Change change = change_of(facts, templates, candidate, planning);
    answer.flip = std::move(change.flip);
    if (answer.flip.empty()) answer.no_flip = std::move(change.none);
    return answer;
  }
  const auto is_view = [&](OpId op) { return facts.of(op).in_place; };
  if (std::count_if(operators.begin(), operators.end(), is_view) + 1 >= std::ssize(operators)) {
    answer.answer = WhyNotAnswer::view;
    answer.group = operators;
    std::copy_if(operators.begin(), operators.end(), std::back_inserter(answer.views), is_view);
    return answer;
  }
  const auto joined = joined_operators(facts, operators);
  answer.group = joined.value_or(operators);
  std::copy_if(answer.group.begin(), answer.group.end(), std::back_inserter(answer.views), is_view);
  if (!joined) return answer;
  answer.nearest = nearest_template(facts, templates, answer.group);
  if (answer.nearest) answer.flip = answer.nearest->flip;
  return answer;
}

Result<OpId> find_named_operator(const Graph& graph, const std::string& name, Diagnostics& diagnostics) {
  if (const auto op = graph.find_operator(name)) return *op;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < graph.operators().size(); ++i) {
    const Operator& op = graph.operators()[i];
    if (std::find(op.origins.begin(), op.origins.end(), name) != op.origins.end()) return OpId(i);
    known.push_back(op.name);
    for (const std::string& origin : op.origins) {
      if (origin != op.name) known.push_back(origin);
    }
  }
  const auto nearest = nearest_name(name, known);
  diagnostics.error(
      "unknown-operator", {}, fmt::format("no operator or node '{}' in {}", name, graph.name()),
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "'stowage explain DIR' lists the operators");
  return Failed{};
}

std::string to_text(const WhyNot& answer, const Graph& graph, const FusionRecord& record) {
  const std::string asked = names_of(graph, answer.asked);
  if (answer.answer == WhyNotAnswer::view) {
    return fmt::format("{}: there is nothing to fuse\n", asked) + views_text(graph, answer.views);
  }
  if (answer.answer == WhyNotAnswer::no_template) {
    std::string text = fmt::format("{}: no template takes them\n", asked);
    if (answer.group != answer.asked) text += fmt::format("  between them: {}\n", names_of(graph, answer.group));
    text += views_text(graph, answer.views);
    if (answer.nearest) {
      text += nearest_text(*answer.nearest);
    } else {
      const bool apart = answer.group == answer.asked;
      text += apart ? "  no way leads from one to the other, and they read no common tensor\n"
                    : "  they are too far apart for any template\n";
    }
    if (!answer.flip.empty()) text += fmt::format("  what would change it: {}\n", answer.flip);
    return text;
  }
  check(answer.candidate.has_value(), "an answer about a group names its candidate");
  const CandidateRecord& candidate = record.candidates[*answer.candidate];
  const std::string group = candidate_text(graph, record, *answer.candidate);
  if (answer.answer == WhyNotAnswer::together) {
    return fmt::format("{}: they are together in {}\n", asked, group);
  }
  std::string text;
  if (answer.answer == WhyNotAnswer::outbid) {
    text = fmt::format("{}: outbid\n  {} would be allowed; {}:\n", asked, group,
                       record.strategy == "none" ? "strategy none leaves every operator alone"
                                                 : fmt::format("strategy {} chose instead", record.strategy));
    for (const std::size_t holder : candidate.outbid_by) {
      text += fmt::format("    {}\n", candidate_text(graph, record, holder));
    }
    text += fmt::format("  {}\n", loss_text(candidate, record));
    if (!answer.plan_text.empty()) text += fmt::format("  its plan {}\n", answer.plan_text);
    return text + others_text(answer, "allowed");
  }
  text = fmt::format("{}: refused\n  {} breaks {}:\n", asked, group,
                     answer.refusals.size() == 1 ? "one rule" : fmt::format("{} rules", answer.refusals.size()));
  for (const Decision& refusal : answer.refusals) text += fmt::format("    {}: {}\n", refusal.rule, refusal.reason);
  if (!answer.flip.empty()) text += fmt::format("  what would change it: {}\n", answer.flip);
  if (!answer.no_flip.empty()) text += fmt::format("  what would change it: {}\n", answer.no_flip);
  return text + others_text(answer, "refused");
}

}  // namespace stowage
