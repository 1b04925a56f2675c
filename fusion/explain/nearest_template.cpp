// SPDX-License-Identifier: Apache-2.0
#include "fusion/explain/nearest_template.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fusion/templates/constraints.h"
#include "fusion/templates/pattern.h"

namespace stowage {
namespace {

constexpr std::size_t max_operators = 8;  ///< further apart no template is near

// What a difference weighs: a value may be changed; another kind is another template, less so a kind of the same sort
// (Gemm for MatMul, one pool for another); another shape of pattern more so.
constexpr std::size_t wrong_value = 2;
constexpr std::size_t related_kind = 3;
constexpr std::size_t wrong_kind = 4;
constexpr std::size_t wrong_place = 8;

/// Layouts that are tried for one pattern; symmetric patterns of many vertices have more than anybody waits for.
constexpr std::size_t max_layouts = 200'000;

/// What operators of several names are alike in; for others the name.
std::string_view sort_of(std::string_view kind) {
  if (kind == "MatMul" || kind == "Gemm") return "product";
  for (const std::string_view sort : {"Conv", "Reduce"}) {
    if (kind.starts_with(sort)) return sort;
  }
  return kind.ends_with("Pool") ? "Pool" : kind;
}

/// What it weighs that an operator differs in this way from what a vertex wants.
std::size_t weight_of(const Mismatch& mismatch, const TemplateVertex& vertex, const std::string& kind) {
  if (mismatch.name != "kind") return wrong_value;
  const bool related = std::any_of(vertex.kinds.begin(), vertex.kinds.end(),
                                   [&](const std::string& wanted) { return sort_of(wanted) == sort_of(kind); });
  return related ? related_kind : wrong_kind;
}

/// A shortest way along edges from one operator to another, both included; nothing where there is none.
std::optional<std::vector<OpId>> way(const GraphFacts& facts, OpId from, OpId to) {
  const Graph& graph = facts.graph;
  std::map<OpId, OpId> before;
  std::vector<OpId> front = {from};
  for (std::size_t at = 0; at < front.size() && !before.contains(to); ++at) {
    for (const OpId reader : readers_of(graph, front[at])) {
      if (facts.of(reader).position > facts.of(to).position) continue;
      if (before.emplace(reader, front[at]).second) front.push_back(reader);
    }
  }
  if (!before.contains(to)) return std::nullopt;
  std::vector<OpId> ops = {to};
  while (ops.back() != from) ops.push_back(before.at(ops.back()));
  return ops;
}

bool read_common_tensor(const Graph& graph, OpId a, OpId b) {
  const auto& of_b = graph.op(b).inputs;
  return std::any_of(graph.op(a).inputs.begin(), graph.op(a).inputs.end(), [&](const auto& operand) {
    return operand && !graph.tensor(*operand).constant && std::find(of_b.begin(), of_b.end(), operand) != of_b.end();
  });
}

/// The slot in which an operator reads another one's result, the wanted one if it is among them.
std::optional<int> slot_between(const Graph& graph, OpId from, OpId to, std::optional<int> wanted) {
  std::optional<int> found;
  const auto& inputs = graph.op(to).inputs;
  for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
    if (!inputs[slot] || graph.tensor(*inputs[slot]).producer != from) continue;
    if (!found || static_cast<int>(slot) == wanted) found = static_cast<int>(slot);
  }
  return found;
}

/// A view by which an operator reads another one's result, directly or through further views; nothing where it does
/// not.
std::optional<OpId> view_between(const GraphFacts& facts, OpId from, OpId to) {
  for (const auto& operand : facts.graph.op(to).inputs) {
    const auto producer = operand ? facts.graph.tensor(*operand).producer : std::nullopt;
    if (!producer || !facts.of(*producer).in_place) continue;
    const auto& inputs = facts.graph.op(*producer).inputs;
    const bool reads = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
      return input && facts.graph.tensor(*input).producer == from;
    });
    if (reads || view_between(facts, from, *producer)) return producer;
  }
  return std::nullopt;
}

struct Difference {
  std::string text;
  std::string flip;  ///< the change that lifts it
};

/// Lays the vertices of one pattern on all the operators with the fewest differences.
class Layout {
 public:
  Layout(const GraphFacts& facts, const FusionTemplate& fusion_template, const Pattern& pattern,
         const std::vector<OpId>& operators)
      : facts_(facts),
        template_(fusion_template),
        pattern_(pattern),
        operators_(operators),
        place_(operators.size()),
        vertex_of_(pattern.vertices.size()) {
    for (std::size_t i = 0; i < operators.size(); ++i) {
      costs_.emplace_back();
      for (const PatternVertex& vertex : pattern.vertices) {
        std::size_t cost = 0;
        for (const Mismatch& one : mismatches(facts, source(vertex), operators[i])) {
          cost += weight_of(one, source(vertex), facts.graph.op(operators[i]).kind);
        }
        costs_.back().push_back(cost);
      }
    }
  }

  /// Fewer than `most` differences, or nothing.
  std::optional<std::size_t> best(std::size_t maximum) {
    maximum_ = maximum;
    const std::size_t unused = pattern_.vertices.size() - operators_.size();
    place(0, wrong_place * unused);
    if (best_.empty()) return std::nullopt;
    return maximum_;
  }

  [[nodiscard]] std::vector<Difference> differences() const {
    std::vector<Difference> found;
    std::vector<std::optional<OpId>> op_at(pattern_.vertices.size());
    for (std::size_t i = 0; i < best_.size(); ++i) op_at[best_[i]] = operators_[i];
    for (std::size_t v = 0; v < pattern_.vertices.size(); ++v) {
      const PatternVertex& vertex = pattern_.vertices[v];
      if (op_at[v]) {
        add_mismatches(vertex, *op_at[v], found);
      } else {
        const std::string kinds = fmt::format("{}", fmt::join(source(vertex).kinds, " or "));
        found.push_back({fmt::format("wants one more operator at vertex {} ({})", vertex.name, kinds),
                         fmt::format("one of {} beside them", kinds)});
      }
    }
    for (const PatternEdge& edge : pattern_.edges) {
      if (op_at[edge.from] && op_at[edge.to]) add_broken_edge(edge, *op_at[edge.from], *op_at[edge.to], found);
    }
    return found;
  }

 private:
  [[nodiscard]] const TemplateVertex& source(const PatternVertex& vertex) const {
    return template_.vertices[vertex.source];
  }

  void add_mismatches(const PatternVertex& vertex, OpId op, std::vector<Difference>& found) const {
    const std::string& name = facts_.graph.op(op).name;
    for (const Mismatch& one : mismatches(facts_, source(vertex), op)) {
      if (one.name == "kind") {
        found.push_back({fmt::format("wants {} at vertex {}, {} is {}", one.wanted, vertex.name, name, one.is),
                         fmt::format("a template that takes {} there", one.is)});
      } else {
        found.push_back(
            {fmt::format("wants {} {} at vertex {}, {} has {}", one.name, one.wanted, vertex.name, name, one.is),
             fmt::format("{} with {} {}", name, one.name, one.wanted)});
      }
    }
  }

  void add_broken_edge(const PatternEdge& edge, OpId from, OpId to, std::vector<Difference>& found) const {
    const auto slot = slot_between(facts_.graph, from, to, edge.slot);
    if (slot && (!edge.slot || slot == edge.slot)) return;
    const std::string& reader = facts_.graph.op(to).name;
    const std::string& read = facts_.graph.op(from).name;
    const std::string wanted = fmt::format("wants vertex {} to read vertex {}", pattern_.vertices[edge.to].name,
                                           pattern_.vertices[edge.from].name);
    if (const auto view = slot ? std::nullopt : view_between(facts_, from, to)) {
      found.push_back(
          {fmt::format("{}, {} reads {} through the view {}", wanted, reader, read, facts_.graph.op(*view).name),
           "a template with a vertex of role 'view' there"});
    } else if (slot) {
      found.push_back({fmt::format("{} in slot {}, {} reads {} in slot {}", wanted, *edge.slot, reader, read, *slot),
                       fmt::format("{} reading {} in slot {}", reader, read, *edge.slot)});
    } else {
      found.push_back(
          {fmt::format("{}, {} does not read {}", wanted, reader, read), fmt::format("{} reading {}", reader, read)});
    }
  }

  void place(std::size_t i, std::size_t cost) {
    if (cost >= maximum_ || layouts_ == max_layouts) return;
    ++layouts_;
    if (i == operators_.size()) {
      maximum_ = cost;
      best_ = place_;
      return;
    }
    for (std::size_t v = 0; v < pattern_.vertices.size(); ++v) {
      if (vertex_of_[v] || pattern_.vertices[v].role == VertexRole::context) continue;
      vertex_of_[v] = operators_[i];
      place_[i] = v;
      place(i + 1, cost + costs_[i][v] + broken_edges(v));
      vertex_of_[v].reset();
    }
  }

  /// Edges between this vertex and those that have an operator already, that the graph does not have.
  [[nodiscard]] std::size_t broken_edges(std::size_t v) const {
    std::size_t broken = 0;
    for (const PatternEdge& edge : pattern_.edges) {
      if ((edge.from != v && edge.to != v) || !vertex_of_[edge.from] || !vertex_of_[edge.to]) continue;
      const auto slot = slot_between(facts_.graph, *vertex_of_[edge.from], *vertex_of_[edge.to], edge.slot);
      if (!slot) {
        const bool through_view = view_between(facts_, *vertex_of_[edge.from], *vertex_of_[edge.to]).has_value();
        broken += through_view ? wrong_value : wrong_place;
      } else if (edge.slot && slot != edge.slot) {
        broken += wrong_value;
      }
    }
    return broken;
  }

  const GraphFacts& facts_;
  const FusionTemplate& template_;
  const Pattern& pattern_;
  const std::vector<OpId>& operators_;
  std::vector<std::vector<std::size_t>> costs_;  ///< [operator][vertex]
  std::vector<std::size_t> place_;               ///< by operator: its vertex
  std::vector<std::optional<OpId>> vertex_of_;   ///< by vertex: its operator
  std::vector<std::size_t> best_;
  std::size_t maximum_ = 0;
  std::size_t layouts_ = 0;  ///< begun
};

/// A pattern, and the operators that are laid on it.
struct TemplatePattern {
  const FusionTemplate* of = nullptr;
  Pattern pattern;
  const std::vector<OpId>* operators = nullptr;
  [[nodiscard]] std::size_t unused() const { return pattern.vertices.size() - operators->size(); }
};

/// Those that have a vertex for each operator, and the fewest more first. On templates without a vertex for a view only
/// `kernels` are laid.
std::vector<TemplatePattern> patterns_for(std::span<const FusionTemplate> templates, const std::vector<OpId>& operators,
                                          const std::vector<OpId>& kernels) {
  std::vector<TemplatePattern> patterns;
  for (const FusionTemplate& fusion_template : templates) {
    const bool has_view = std::any_of(fusion_template.vertices.begin(), fusion_template.vertices.end(),
                                      [](const TemplateVertex& vertex) { return vertex.role == VertexRole::view; });
    const std::vector<OpId>& laid = has_view ? operators : kernels;
    for (Pattern& pattern : expand(fusion_template)) {
      if (pattern.vertices.size() >= laid.size()) patterns.push_back({&fusion_template, std::move(pattern), &laid});
    }
  }
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const TemplatePattern& a, const TemplatePattern& b) { return a.unused() < b.unused(); });
  return patterns;
}

}  // namespace

std::optional<std::vector<OpId>> joined_operators(const GraphFacts& facts, const std::vector<OpId>& operators) {
  const auto earlier = [&](OpId a, OpId b) { return facts.of(a).position < facts.of(b).position; };
  std::vector<OpId> sorted = operators;
  std::sort(sorted.begin(), sorted.end(), earlier);
  std::set<OpId> joined = {sorted.front()};
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    // The shortest way from any earlier one, or none where they are branches.
    std::optional<std::vector<OpId>> shortest;
    bool branches = false;
    for (std::size_t k = 0; k < i; ++k) {
      auto found = way(facts, sorted[k], sorted[i]);
      if (found && (!shortest || found->size() < shortest->size())) shortest = std::move(found);
      branches = branches || read_common_tensor(facts.graph, sorted[k], sorted[i]);
    }
    if (!shortest && !branches) return std::nullopt;
    if (shortest) joined.insert(shortest->begin(), shortest->end());
    joined.insert(sorted[i]);
  }
  sorted.assign(joined.begin(), joined.end());
  std::sort(sorted.begin(), sorted.end(), earlier);
  return sorted;
}

std::optional<NearestTemplate> nearest_template(const GraphFacts& facts, std::span<const FusionTemplate> templates,
                                                const std::vector<OpId>& operators) {
  std::optional<NearestTemplate> nearest;
  if (operators.size() > max_operators) return nearest;
  std::vector<OpId> kernels;
  std::copy_if(operators.begin(), operators.end(), std::back_inserter(kernels),
               [&](OpId op) { return !facts.of(op).in_place; });
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const TemplatePattern& one : patterns_for(templates, operators, kernels)) {
    if (wrong_place * one.unused() >= fewest) break;  // nor can one with more unused vertices be nearer
    const auto& [fusion_template, pattern, laid] = one;
    Layout layout(facts, *fusion_template, pattern, *laid);
    const auto found = layout.best(fewest);
    if (!found) continue;
    fewest = *found;
    nearest = NearestTemplate{fusion_template->name, {}, {}, {}};
    const std::vector<Difference> differences = layout.differences();
    for (const Difference& difference : differences) nearest->differences.push_back(difference.text);
    if (differences.size() == 1) nearest->flip = differences.front().flip;
    for (const PatternVertex& vertex : pattern.vertices) nearest->vertices.push_back(vertex.name);
  }
  return nearest;
}

}  // namespace stowage
