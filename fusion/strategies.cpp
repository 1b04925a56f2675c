// SPDX-License-Identifier: Apache-2.0
#include "fusion/strategies.h"

#include <fmt/format.h>

#include "fusion/group.h"
#include "fusion/legality.h"
#include "fusion/match.h"

namespace stowage {
namespace {

struct TemplateEmbedding {
  std::size_t pattern = 0;  ///< index into the template's patterns
  Embedding embedding;
};

/// Embeddings of one template by the operator that they give the role of anchor, longest patterns first.
using EmbeddingsByAnchor = std::vector<std::vector<TemplateEmbedding>>;

class Greedy {
 public:
  Greedy(const Graph& graph, const GroupCost* cost, TraceSink trace)
      : facts_(graph), cost_(cost), trace_(trace), owner_(graph.operators().size()) {}

  void try_template(const FusionTemplate& fusion_template) {
    const std::vector<Pattern> patterns = expand(fusion_template);
    const EmbeddingsByAnchor by_anchor = embeddings(fusion_template, patterns);
    for (const OpId anchor : facts_.order) {
      for (const TemplateEmbedding& found : by_anchor[anchor.index()]) {
        if (owner_[anchor.index()]) break;
        consider(group_of(fusion_template, patterns[found.pattern], found.embedding));
      }
    }
  }

  FusedGraph finish() {
    for (const OpId op : facts_.order) {
      if (owner_[op.index()]) continue;
      accept(make_single(facts_, op),
             facts_.graph.op(op).name + (facts_.of(op).is_view ? " only re-indexes" : " is taken by no template"));
    }
    return {facts_.graph, in_execution_order(facts_, std::move(groups_))};
  }

 private:
  [[nodiscard]] EmbeddingsByAnchor embeddings(const FusionTemplate& fusion_template,
                                              const std::vector<Pattern>& patterns) const {
    EmbeddingsByAnchor by_anchor(facts_.graph.operators().size());
    const VertexCandidates candidates = find_candidates(facts_, fusion_template);
    for (std::size_t p = 0; p < patterns.size(); ++p) {
      Embeddings embeddings = find_embeddings(facts_.graph, patterns[p], candidates);
      for (const OpId start : embeddings.given_up) {
        trace_.add(
            {"fusion",
             fusion_template.name,
             "search-limit",
             TraceOutcome::refused,
             fmt::format("the search from {} ended after {} candidates", facts_.graph.op(start).name, tests_per_start),
             {}});
      }
      for (Embedding& embedding : without_symmetric(std::move(embeddings.found))) {
        const OpId anchor = embedding[patterns[p].anchor];
        by_anchor[anchor.index()].push_back({p, std::move(embedding)});
      }
    }
    return by_anchor;
  }

  [[nodiscard]] FusedOperator group_of(const FusionTemplate& fusion_template, const Pattern& pattern,
                                       const Embedding& embedding) const {
    std::vector<Member> members;
    for (std::size_t v = 0; v < embedding.size(); ++v) {
      const VertexRole role = pattern.vertices[v].role;
      if (role != VertexRole::context) members.push_back({embedding[v], std::string(name_of(role))});
    }
    return make_group(facts_, fusion_template.name, embedding[pattern.anchor], std::move(members));
  }

  void consider(FusedOperator group) {
    for (const OpId op : group.operators) {
      if (const auto owner = owner_[op.index()]) {
        return refuse(group, {Decision::refuse("taken", fmt::format("{} already belongs to {}",
                                                                    facts_.graph.op(op).name, groups_[*owner].name))});
      }
    }
    if (const std::vector<Decision> broken = refusals(facts_, group); !broken.empty()) return refuse(group, broken);
    if (cost_ != nullptr && group.operators.size() > 1) {
      const GroupCost::Answer answer = cost_->cost(facts_.graph, group);
      if (!answer.decision) return refuse(group, {answer.decision});
    }
    std::string message =
        fmt::format("template {} takes {}", group.template_name, names_of(facts_.graph, group.operators));
    accept(std::move(group), std::move(message));
  }

  void accept(FusedOperator group, std::string message) {
    trace_.add({"fusion", group.name, group.template_name, TraceOutcome::accepted, std::move(message), {}});
    for (const OpId op : group.operators) owner_[op.index()] = groups_.size();
    groups_.push_back(std::move(group));
  }

  /// One record, at the first rule that is broken; the others are its values.
  void refuse(const FusedOperator& group, const std::vector<Decision>& broken) const {
    TraceRecord record{"fusion",
                       group.name,
                       broken.front().rule,
                       TraceOutcome::refused,
                       fmt::format("template {} on {}: {}", group.template_name,
                                   names_of(facts_.graph, group.operators), broken.front().reason),
                       {}};
    for (std::size_t i = 1; i < broken.size(); ++i) record.values.emplace_back(broken[i].rule, broken[i].reason);
    trace_.add(std::move(record));
  }

  GraphFacts facts_;
  const GroupCost* cost_;
  TraceSink trace_;
  std::vector<std::optional<std::size_t>> owner_;  ///< by operator: index into groups_
  std::vector<FusedOperator> groups_;
};

}  // namespace

FusedGraph NoFusion::fuse(const Graph& graph, const std::vector<FusionTemplate>&, const GroupCost* cost,
                          TraceSink trace) const {
  return Greedy(graph, cost, trace).finish();
}

FusedGraph GreedyFusion::fuse(const Graph& graph, const std::vector<FusionTemplate>& templates, const GroupCost* cost,
                              TraceSink trace) const {
  Greedy greedy(graph, cost, trace);
  for (const FusionTemplate& fusion_template : templates) greedy.try_template(fusion_template);
  return greedy.finish();
}

const Strategy* find_strategy(std::string_view name) {
  static const NoFusion none;
  static const GreedyFusion greedy;
  for (const Strategy* strategy : {static_cast<const Strategy*>(&none), static_cast<const Strategy*>(&greedy)}) {
    if (strategy->name() == name) return strategy;
  }
  return nullptr;
}

std::vector<std::string> strategy_names() { return {"none", "greedy"}; }

}  // namespace stowage
