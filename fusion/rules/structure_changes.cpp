// SPDX-License-Identifier: Apache-2.0
#include "fusion/rules/structure_changes.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fusion/groups/group.h"
#include "fusion/groups/horizontal_fusion.h"

namespace stowage {
namespace {

constexpr std::size_t max_added = 8;    ///< a template of more is another one, not a change
constexpr std::size_t max_walked = 64;  ///< operators behind a result, on the search for where results meet

/// Operators outside that lie on a way from `members` to one of them or to one of `ends`, in topological order.
std::vector<OpId> between(const GraphFacts& facts, const std::set<OpId>& members, const std::set<OpId>& ends) {
  std::size_t last = 0;
  for (const std::set<OpId>* some : {&members, &ends}) {
    for (const OpId op : *some) last = std::max(last, facts.of(op).position);
  }
  std::set<OpId> behind;
  std::vector<OpId> walk(members.begin(), members.end());
  while (!walk.empty()) {
    const OpId op = walk.back();
    walk.pop_back();
    for (const OpId reader : readers_of(facts.graph, op)) {
      const bool outside = !members.contains(reader) && !ends.contains(reader);
      if (outside && facts.of(reader).position < last && behind.insert(reader).second) walk.push_back(reader);
    }
  }
  std::vector<OpId> sorted(behind.begin(), behind.end());
  std::sort(sorted.begin(), sorted.end(), [&](OpId a, OpId b) { return facts.of(a).position > facts.of(b).position; });
  std::set<OpId> leading;
  std::vector<OpId> found;
  for (const OpId op : sorted) {
    const std::vector<OpId> readers = readers_of(facts.graph, op);
    const bool leads = std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
      return members.contains(reader) || ends.contains(reader) || leading.contains(reader);
    });
    if (!leads) continue;
    leading.insert(op);
    found.push_back(op);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::set<OpId> members_of(const FusedOperator& group) { return {group.operators.begin(), group.operators.end()}; }

/// The role of an operator that may keep `role`, given on which side of the anchor it is.
std::string role_beside(const OperatorFacts& op, const std::string& role, bool behind) {
  if (role == "view") return role;
  if (behind) return "epilogue";
  if (role == "prologue" || role == "producer") return role;
  if (op.is_view) return "view";
  return op.reduces || op.kind == FusionKind::opaque ? "producer" : "prologue";
}

/// The group with `anchor` in that role, and the others in those that it leaves them.
FusedOperator with_anchor(const GraphFacts& facts, const FusedOperator& group, OpId anchor) {
  std::set<OpId> behind = {anchor};
  std::vector<Member> members;
  for (std::size_t i = 0; i < group.operators.size(); ++i) {
    const OpId op = group.operators[i];
    const auto& operands = facts.graph.op(op).inputs;
    const bool reads_behind = std::any_of(operands.begin(), operands.end(), [&](const auto& operand) {
      const auto producer = operand ? facts.graph.tensor(*operand).producer : std::nullopt;
      return producer && behind.contains(*producer);
    });
    if (reads_behind) behind.insert(op);
    members.push_back({op, op == anchor ? "anchor" : role_beside(facts.of(op), group.roles[i], reads_behind)});
  }
  return make_group(facts, group.template_name, anchor, std::move(members));
}

/// The group in roles that make it legal, changing as few as possible of those that it has; the anchor stays where it
/// can.
std::optional<FusedOperator> in_legal_roles(const GraphFacts& facts, const FusedOperator& group, const IsLegal& legal) {
  if (is_horizontal(group)) return std::nullopt;
  std::optional<FusedOperator> best;
  std::size_t fewest = group.operators.size() + 1;
  for (const OpId anchor : group.operators) {
    FusedOperator tried = with_anchor(facts, group, anchor);
    std::size_t changes = 0;
    for (std::size_t i = 0; i < tried.roles.size(); ++i) {
      if (!group.roles[i].empty() && tried.roles[i] != group.roles[i]) ++changes;
    }
    if (changes >= fewest || !legal(tried)) continue;
    fewest = changes;
    best = std::move(tried);
  }
  return best;
}

/// "relu as 'epilogue'" of everything that has another role now.
std::vector<std::string> other_roles(const Graph& graph, const FusedOperator& before, const FusedOperator& now) {
  std::vector<std::string> changes;
  for (std::size_t i = 0; i < before.operators.size(); ++i) {
    const auto at = std::find(now.operators.begin(), now.operators.end(), before.operators[i]) - now.operators.begin();
    const std::string& role = now.roles[static_cast<std::size_t>(at)];
    if (role != before.roles[i]) changes.push_back(fmt::format("{} as '{}'", graph.op(before.operators[i]).name, role));
  }
  return changes;
}

/// "a template that takes tanh too": the group with these operators, if that is legal.
std::string with_more(const GraphFacts& facts, const FusedOperator& group, const std::vector<OpId>& more,
                      const IsLegal& legal) {
  if (more.empty() || more.size() > max_added) return {};
  std::vector<Member> members;
  for (std::size_t i = 0; i < group.operators.size(); ++i) members.push_back({group.operators[i], group.roles[i]});
  for (const OpId op : more) members.push_back({op, {}});
  const FusedOperator grown = make_group(facts, group.template_name, group.operators.front(), std::move(members));
  const auto allowed = in_legal_roles(facts, grown, legal);
  if (!allowed) return {};
  std::vector<std::string> texts = {listed(facts.graph, more) + " too"};
  for (std::string& change : other_roles(facts.graph, group, *allowed)) texts.push_back(std::move(change));
  return fmt::format("a template that takes {}", fmt::join(texts, ", "));
}

/// Operators behind this one, itself included, nearest first.
std::set<OpId> behind(const Graph& graph, OpId op) {
  std::set<OpId> seen = {op};
  std::vector<OpId> walk = {op};
  for (std::size_t at = 0; at < walk.size() && walk.size() < max_walked; ++at) {
    for (const OpId reader : readers_of(graph, walk[at])) {
      if (seen.insert(reader).second) walk.push_back(reader);
    }
  }
  return seen;
}

}  // namespace

std::string change_of_roles(const GraphFacts& facts, const FusedOperator& group, const IsLegal& legal) {
  const auto allowed = in_legal_roles(facts, group, legal);
  if (!allowed) return {};
  return fmt::format("a template that takes {}", fmt::join(other_roles(facts.graph, group, *allowed), ", "));
}

std::string change_to_one_output(const GraphFacts& facts, const FusedOperator& group, const IsLegal& legal) {
  const std::set<OpId> members = members_of(group);
  std::optional<std::set<OpId>> meeting;
  for (const OpId op : group.operators) {
    const std::vector<OpId>& readers = readers_of(facts.graph, op);
    if (std::any_of(readers.begin(), readers.end(), [&](OpId reader) { return members.contains(reader); })) continue;
    std::set<OpId> reached = behind(facts.graph, op);
    if (meeting) std::erase_if(reached, [&](OpId other) { return !meeting->contains(other); });
    meeting = std::move(reached);
  }
  if (!meeting || meeting->empty()) return {};
  const OpId nearest = *std::min_element(meeting->begin(), meeting->end(),
                                         [&](OpId a, OpId b) { return facts.of(a).position < facts.of(b).position; });
  if (members.contains(nearest)) return {};
  std::vector<OpId> more = between(facts, members, {nearest});
  more.push_back(nearest);
  return with_more(facts, group, more, legal);
}

std::string change_to_convex(const GraphFacts& facts, const FusedOperator& group, const IsLegal& legal) {
  return with_more(facts, group, between(facts, members_of(group), {}), legal);
}

}  // namespace stowage
