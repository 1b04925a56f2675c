// SPDX-License-Identifier: Apache-2.0
#include "fusion/strategies/input_branches.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace stowage {
namespace {

/// The context vertex, if the pattern has one and an input of the network may be it.
std::optional<std::size_t> shared_vertex(const FusionTemplate& fusion_template, const Pattern& pattern) {
  std::optional<std::size_t> shared;
  for (std::size_t v = 0; v < pattern.vertices.size(); ++v) {
    if (pattern.vertices[v].role != VertexRole::context) continue;
    if (shared) return std::nullopt;
    shared = v;
  }
  if (!shared) return std::nullopt;
  const TemplateVertex& vertex = fusion_template.vertices[pattern.vertices[*shared].source];
  const bool any_kind = std::find(vertex.kinds.begin(), vertex.kinds.end(), "@any") != vertex.kinds.end();
  const bool plain = std::all_of(vertex.constraints.begin(), vertex.constraints.end(),
                                 [](const auto& constraint) { return constraint.first == "fan_out"; });
  return any_kind && plain ? shared : std::nullopt;
}

bool has_as_many_readers(const TemplateVertex& vertex, const GraphTensor& tensor) {
  const std::set<OpId> readers(tensor.consumers.begin(), tensor.consumers.end());
  return std::all_of(vertex.constraints.begin(), vertex.constraints.end(), [&](const auto& constraint) {
    return holds(constraint.second, PropertyValue(static_cast<double>(readers.size())));
  });
}

/// One branch of a pattern: what hangs together with its anchor once the context is taken away.
struct BranchPattern {
  Pattern pattern;
  std::vector<std::size_t> vertices;  ///< of the whole pattern, in its order
};

BranchPattern branch_of(const Pattern& whole, std::size_t anchor, std::size_t context) {
  std::set<std::size_t> inside = {anchor};
  for (bool grown = true; grown;) {
    grown = false;
    for (const PatternEdge& edge : whole.edges) {
      if (edge.from == context || edge.to == context) continue;
      if (inside.contains(edge.from) != inside.contains(edge.to)) {
        inside.insert({edge.from, edge.to});
        grown = true;
      }
    }
  }
  BranchPattern branch;
  branch.vertices.assign(inside.begin(), inside.end());
  const auto number = [&](std::size_t v) {
    return static_cast<std::size_t>(std::lower_bound(branch.vertices.begin(), branch.vertices.end(), v) -
                                    branch.vertices.begin());
  };
  for (const std::size_t v : branch.vertices) branch.pattern.vertices.push_back(whole.vertices[v]);
  for (const PatternEdge& edge : whole.edges) {
    if (inside.contains(edge.from) && inside.contains(edge.to)) {
      branch.pattern.edges.push_back({number(edge.from), number(edge.to), edge.slot});
    }
  }
  branch.pattern.anchor = number(anchor);
  return branch;
}

bool reads(const Graph& graph, OpId op, TensorId tensor, std::optional<int> slot) {
  const auto& operands = graph.op(op).inputs;
  if (slot)
    return static_cast<std::size_t>(*slot) < operands.size() && operands[static_cast<std::size_t>(*slot)] == tensor;
  return std::find(operands.begin(), operands.end(), tensor) != operands.end();
}

}  // namespace

std::vector<Embedding> branches_of_inputs(const GraphFacts& facts, const FusionTemplate& fusion_template,
                                          const Pattern& pattern, const VertexCandidates& candidates) {
  const std::optional<std::size_t> context = shared_vertex(fusion_template, pattern);
  if (pattern.branches.empty() || !context) return {};
  const TemplateVertex& shared = fusion_template.vertices[pattern.vertices[*context].source];
  const Graph& graph = facts.graph;
  std::vector<BranchPattern> branches;
  for (const std::size_t anchor : pattern.branches) branches.push_back(branch_of(pattern, anchor, *context));
  std::vector<Embedding> found;
  std::optional<std::vector<Embedding>> single;  // of one branch, wherever it is; they are all alike
  for (const TensorId input : graph.inputs()) {
    const GraphTensor& tensor = graph.tensor(input);
    if (tensor.consumers.size() < 2 || !has_as_many_readers(shared, tensor)) continue;
    if (!single) single = find_embeddings(graph, branches.front().pattern, candidates).found;
    // Those of which everything that the pattern joins to its context reads the input, by ascending anchor.
    std::vector<Embedding> here;
    for (const Embedding& embedding : *single) {
      const bool reads_input = std::all_of(pattern.edges.begin(), pattern.edges.end(), [&](const PatternEdge& edge) {
        const auto& vertices = branches.front().vertices;
        const auto at = std::find(vertices.begin(), vertices.end(), edge.to);
        if (edge.from != *context || at == vertices.end()) return true;
        return reads(graph, embedding[static_cast<std::size_t>(at - vertices.begin())], input, edge.slot);
      });
      if (reads_input) here.push_back(embedding);
    }
    const std::size_t anchor = branches.front().pattern.anchor;
    std::stable_sort(here.begin(), here.end(),
                     [&](const Embedding& a, const Embedding& b) { return a[anchor] < b[anchor]; });
    std::size_t left = SearchBudget::embeddings_per_start;
    Embedding whole(pattern.vertices.size());
    std::set<OpId> used;
    const std::function<void(std::size_t, std::size_t)> choose = [&](std::size_t branch, std::size_t from) {
      if (left == 0) return;
      if (branch == branches.size()) {
        whole[*context] = whole[pattern.anchor];
        found.push_back(whole);
        --left;
        return;
      }
      for (std::size_t i = from; i < here.size(); ++i) {
        const Embedding& one = here[i];
        const bool ascends = branch == 0 || whole[pattern.branches[branch - 1]] < one[anchor];
        if (!ascends || std::any_of(one.begin(), one.end(), [&](OpId op) { return used.contains(op); })) continue;
        for (std::size_t v = 0; v < one.size(); ++v) whole[branches[branch].vertices[v]] = one[v];
        used.insert(one.begin(), one.end());
        choose(branch + 1, i + 1);
        for (const OpId op : one) used.erase(op);
      }
    };
    choose(0, 0);
  }
  return found;
}

}  // namespace stowage
