// SPDX-License-Identifier: Apache-2.0
#include "driver/session/fixed_operators.h"

#include <map>
#include <set>

#include <fmt/format.h>

namespace stowage {

Result<std::vector<std::vector<OpId>>> find_groups(const Graph& graph, const std::vector<FixedGroup>& groups,
                                                   Diagnostics& diagnostics) {
  Diagnostics own;
  std::map<std::string, OpId> known;
  std::vector<std::string> names;
  for (const OpId op : topological_order(graph)) {
    names.push_back(graph.op(op).name);
    known.emplace(names.back(), op);
  }
  std::set<OpId> taken;
  std::vector<std::vector<OpId>> found;
  for (const FixedGroup& group : groups) {
    const auto problem = [&](const char* code, std::string message, std::string remedy) {
      Diagnostic diagnostic = group.location;
      diagnostic.code = code;
      diagnostic.message = std::move(message);
      diagnostic.remedy = std::move(remedy);
      own.add(std::move(diagnostic));
    };
    found.emplace_back();
    for (const std::string& name : group.operators) {
      const auto op = known.find(name);
      if (op == known.end()) {
        problem("unknown-operator", fmt::format("no operator '{}'", name), suggest_name(name, names));
      } else if (!taken.insert(op->second).second) {
        problem("group-overlap", fmt::format("operator '{}' is in two fixed groups", name),
                "an operator belongs to one group only");
      } else {
        found.back().push_back(op->second);
      }
    }
  }
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return found;
}

std::vector<FixedGroup> groups_of(const FusedGraph& fused) {
  std::vector<FixedGroup> groups;
  for (const FusedOperator& group : fused.groups) {
    groups.emplace_back();
    for (const OpId op : group.operators) groups.back().operators.push_back(fused.graph.op(op).name);
  }
  return groups;
}

}  // namespace stowage
