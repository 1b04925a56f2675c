// SPDX-License-Identifier: Apache-2.0
// Strategy "tvm": the post-dominator rule of TVM's FuseOps. Kinds of operators stand for TVM's patterns: element-wise,
// broadcast, injective, reduction ("CommReduce"), anchor ("OutEWiseFusable"), opaque. An operator that reduces in
// several stages (Softmax, LayerNormalization) is opaque there; a Gemm, whose bias is a stage of its own, is an anchor.
#include <algorithm>
#include <numeric>
#include <optional>

#include "fusion/strategies/strategies.h"

namespace stowage {
namespace {

class PostDominatorRule {
 public:
  explicit PostDominatorRule(const CandidateSet& set) : facts_(set.facts), graph_(facts_.graph) {
    const std::size_t count = graph_.operators().size();
    root_.resize(count);
    std::iota(root_.begin(), root_.end(), std::size_t{0});
    kind_.resize(count);
    seen_.resize(count, 0);
    for (std::size_t i = 0; i < count; ++i) kind_[i] = pattern_of(OpId(i));
    find_post_dominators();
  }

  /// Operators by group that the rule makes, each in topological order.
  std::vector<std::vector<OpId>> run() {
    for (const int phase : {0, 1}) {
      for (const OpId op : facts_.order) visit(op, phase);
    }
    std::vector<std::vector<OpId>> groups(root_.size());
    for (const OpId op : facts_.order) groups[root(op.index())].push_back(op);
    groups.erase(std::remove_if(groups.begin(), groups.end(), [](const auto& group) { return group.empty(); }),
                 groups.end());
    return groups;
  }

 private:
  struct Parent {
    std::optional<OpId> op;  ///< immediate post-dominator
    std::size_t depth = 1;
    FusionKind kind = FusionKind::element_wise;  ///< the least benign of all edges on the way there
  };

  [[nodiscard]] FusionKind pattern_of(OpId op) const {
    const OperatorFacts& facts = facts_.of(op);
    return facts.stages > 1 && facts.kind == FusionKind::reduction ? FusionKind::opaque : facts.kind;
  }

  /// The pattern of an edge is its reader's; a broadcast operand of the result's own shape counts as element-wise.
  [[nodiscard]] FusionKind edge_kind(OpId producer, OpId reader) const {
    const FusionKind kind = pattern_of(reader);
    if (kind != FusionKind::broadcast) return kind;
    const bool same_shape = graph_.tensor(graph_.op(producer).first_output()).shape ==
                            graph_.tensor(graph_.op(reader).first_output()).shape;
    return same_shape ? FusionKind::element_wise : kind;
  }

  /// One pass over the reversed topological order; least common ancestors in the tree so far.
  void find_post_dominators() {
    parents_.resize(root_.size());
    for (auto op = facts_.order.rbegin(); op != facts_.order.rend(); ++op) {
      const std::vector<OpId> readers = readers_of(graph_, *op);
      Parent& parent = parents_[op->index()];
      if (makes_network_output(graph_, *op) || readers.empty()) {
        parent.kind = FusionKind::opaque;
        continue;
      }
      std::optional<OpId> common = readers.front();
      FusionKind kind = edge_kind(*op, readers.front());
      for (std::size_t i = 1; i < readers.size(); ++i) {
        kind = std::max(kind, edge_kind(*op, readers[i]));
        common = common_ancestor(common, readers[i], kind);
      }
      parent.op = common;
      parent.kind = kind;
      parent.depth = common ? parents_[common->index()].depth + 1 : 1;
    }
  }

  std::optional<OpId> common_ancestor(std::optional<OpId> a, std::optional<OpId> b, FusionKind& kind) const {
    const auto up = [&](std::optional<OpId>& op) {
      kind = std::max(kind, parents_[op->index()].kind);
      op = parents_[op->index()].op;
    };
    while (a != b) {
      if (!a || !b) return std::nullopt;
      const std::size_t depth_a = parents_[a->index()].depth;
      const std::size_t depth_b = parents_[b->index()].depth;
      if (depth_a >= depth_b) up(a);
      if (depth_b >= depth_a) up(b);
    }
    return a;
  }

  std::size_t root(std::size_t op) {
    while (root_[op] != op) op = root_[op] = root_[root_[op]];
    return op;
  }

  void visit(OpId op, int phase) {
    const FusionKind kind = kind_[root(op.index())];
    const Parent& parent = parents_[op.index()];
    if (kind == FusionKind::opaque || !parent.op) return;
    if (root(op.index()) == root(parent.op->index())) return;
    if (kind == FusionKind::anchor) {
      if (phase != 0 || parent.kind != FusionKind::element_wise) return;
      fuse_if(op, *parent.op, [](FusionKind on_path, bool) { return on_path <= FusionKind::broadcast; });
    } else if (kind <= FusionKind::broadcast) {
      if (parent.kind > FusionKind::reduction) return;
      fuse_if(op, *parent.op, [](FusionKind on_path, bool is_sink) {
        return is_sink ? on_path <= FusionKind::anchor : on_path <= FusionKind::injective;
      });
    } else if (kind == FusionKind::injective && phase == 1) {
      fuse_if(op, *parent.op, [](FusionKind on_path, bool) { return on_path <= FusionKind::injective; });
    }
  }

  /// Joins everything between two operators, if the kind of every group on the way (of the source's none) is allowed.
  template <class Allowed>
  void fuse_if(OpId source, OpId sink, Allowed&& allowed) {
    std::vector<OpId> between{source};
    ++stamp_;
    seen_[source.index()] = stamp_;
    for (std::size_t i = 0; i < between.size(); ++i) {
      for (const OpId reader : readers_of(graph_, between[i])) {
        if (reader == sink || seen_[reader.index()] == stamp_) continue;
        if (!allowed(kind_[root(reader.index())], false)) return;
        seen_[reader.index()] = stamp_;
        between.push_back(reader);
      }
    }
    if (!allowed(kind_[root(sink.index())], true)) return;
    const std::size_t target = root(sink.index());
    for (const OpId op : between) {
      const std::size_t joined = root(op.index());
      kind_[target] = std::max(kind_[target], kind_[joined]);
      root_[joined] = target;
    }
  }

  const GraphFacts& facts_;
  const Graph& graph_;
  std::vector<std::size_t> root_;  ///< union-find
  std::vector<FusionKind> kind_;   ///< by root: of the group
  std::vector<Parent> parents_;
  std::vector<std::size_t> seen_;  ///< by operator: stamp of the last walk that met it
  std::size_t stamp_ = 0;
};

/// Candidates that cover groups, of each the largest first from its start.
std::vector<std::size_t> cover(const CandidateSet& set, const std::vector<std::vector<OpId>>& groups) {
  std::vector<std::size_t> group_of(set.single.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g]) group_of[op.index()] = g;
  }
  std::vector<std::size_t> choice;
  std::vector<bool> taken(set.single.size(), false);
  for (const std::vector<OpId>& group : groups) {
    for (const OpId op : group) {
      if (taken[op.index()]) continue;
      std::size_t best = set.single[op.index()];
      for (const std::size_t c : set.of_operator[op.index()]) {
        const std::vector<OpId>& members = set.of(c).group.operators;
        if (members.front() == op && members.size() > set.of(best).group.operators.size() &&
            std::all_of(members.begin(), members.end(), [&](OpId member) {
              return !taken[member.index()] && group_of[member.index()] == group_of[op.index()];
            })) {
          best = c;
        }
      }
      for (const OpId member : set.of(best).group.operators) taken[member.index()] = true;
      choice.push_back(best);
    }
  }
  return choice;
}

}  // namespace

Choice TvmFusion::choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const {
  Choice choice;
  const std::vector<std::vector<OpId>> groups = PostDominatorRule(set).run();
  if (stop.stop_requested()) return {alone(set), {}, {}, {}};
  choice.candidates = cover(set, groups);
  if (!is_executable(set, choice.candidates)) choice.candidates = alone(set);
  note_choice(set, choice.candidates, trace);
  return choice;
}

}  // namespace stowage
