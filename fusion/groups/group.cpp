// SPDX-License-Identifier: Apache-2.0
#include "fusion/groups/group.h"

#include <algorithm>
#include <queue>

#include <fmt/format.h>

#include "core/template_names.h"
#include "fusion/groups/horizontal_fusion.h"

namespace stowage {

FusedOperator make_group(const GraphFacts& facts, std::string template_name, OpId anchor, std::vector<Member> members) {
  check(!members.empty(), "a group has operators");
  std::sort(members.begin(), members.end(),
            [&](const Member& a, const Member& b) { return facts.of(a.op).position < facts.of(b.op).position; });
  FusedOperator group;
  group.name = facts.graph.op(anchor).name;
  group.template_name = std::move(template_name);
  for (Member& member : members) {
    group.operators.push_back(member.op);
    group.roles.push_back(std::move(member.role));
  }
  group.results = results_of_branches(facts.graph, group);
  group.inputs = outside_inputs(facts.graph, group.operators);
  return group;
}

FusedOperator make_single(const GraphFacts& facts, OpId op) {
  const bool in_place = facts.of(op).in_place;
  FusedOperator group = make_group(facts, std::string(in_place ? view_template : single_template), op,
                                   {{op, in_place ? "view" : "anchor"}});
  group.is_view = in_place;
  return group;
}

std::vector<TensorId> outside_inputs(const Graph& graph, const std::vector<OpId>& operators) {
  std::vector<TensorId> inputs;
  for (const OpId id : operators) {
    for (const auto& operand : graph.op(id).inputs) {
      if (!operand || std::find(inputs.begin(), inputs.end(), *operand) != inputs.end()) continue;
      const auto& producer = graph.tensor(*operand).producer;
      const bool inside = producer && std::find(operators.begin(), operators.end(), *producer) != operators.end();
      if (!inside) inputs.push_back(*operand);
    }
  }
  return inputs;
}

std::vector<FusedOperator> in_execution_order(const GraphFacts& facts, std::vector<FusedOperator> groups) {
  const Graph& graph = facts.graph;
  std::vector<std::size_t> group_of(graph.operators().size(), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g].operators) group_of[op.index()] = g;
  }
  std::vector<std::size_t> waiting(groups.size(), 0);
  std::vector<std::vector<std::size_t>> readers(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const TensorId input : groups[g].inputs) {
      const auto& producer = graph.tensor(input).producer;
      if (!producer) continue;
      check(group_of[producer->index()] < groups.size(), "a group reads an operator that no group holds");
      readers[group_of[producer->index()]].push_back(g);
      ++waiting[g];
    }
  }
  using Ready = std::pair<std::size_t, std::size_t>;  // position of the last operator, group
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  const auto make_ready = [&](std::size_t g) { ready.emplace(facts.of(groups[g].operators.back()).position, g); };
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (waiting[g] == 0) make_ready(g);
  }
  std::vector<FusedOperator> ordered;
  while (!ready.empty()) {
    const std::size_t g = ready.top().second;
    ready.pop();
    for (const std::size_t reader : readers[g]) {
      if (--waiting[reader] == 0) make_ready(reader);
    }
    ordered.push_back(std::move(groups[g]));
  }
  check(ordered.size() == groups.size(), "groups wait for each other");
  return ordered;
}

bool share_operators(const std::vector<OpId>& a, const std::vector<OpId>& b) {
  return std::any_of(a.begin(), a.end(), [&](OpId op) { return std::find(b.begin(), b.end(), op) != b.end(); });
}

std::string names_of(const Graph& graph, const std::vector<OpId>& operators) {
  std::string text;
  for (const OpId op : operators) text += (text.empty() ? "" : " + ") + graph.op(op).name;
  return text;
}

std::string groups_text(const Graph& graph, const std::vector<std::vector<OpId>>& groups) {
  std::string text;
  for (const std::vector<OpId>& group : groups) text += (text.empty() ? "" : " | ") + names_of(graph, group);
  return text;
}

std::vector<std::string> names_each(const Graph& graph, const std::vector<OpId>& operators) {
  std::vector<std::string> names;
  for (const OpId op : operators) names.push_back(graph.op(op).name);
  return names;
}

std::string listed(const Graph& graph, const std::vector<OpId>& operators) {
  constexpr std::size_t crowd = 6;
  if (operators.size() > crowd) return fmt::format("{} operators", operators.size());
  std::string text;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (i > 0) text += i + 1 == operators.size() ? " and " : ", ";
    text += graph.op(operators[i]).name;
  }
  return text;
}

}  // namespace stowage
