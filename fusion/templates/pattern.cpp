// SPDX-License-Identifier: Apache-2.0
#include "fusion/templates/pattern.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {
namespace {

/// Edges between template vertices after those without a copy are bridged.
std::vector<TemplateEdge> bridged_edges(const FusionTemplate& fusion_template, const std::vector<int>& copies) {
  std::vector<TemplateEdge> edges = fusion_template.edges;
  for (std::size_t v = 0; v < copies.size(); ++v) {
    if (copies[v] > 0) continue;
    const std::string& left_out = fusion_template.vertices[v].name;
    std::vector<TemplateEdge> kept;
    for (const TemplateEdge& edge : edges) {
      if (edge.from != left_out && edge.to != left_out) kept.push_back(edge);
    }
    for (const TemplateEdge& into : edges) {
      for (const TemplateEdge& out : edges) {
        if (into.to == left_out && out.from == left_out) kept.push_back({into.from, out.to, out.slot});
      }
    }
    edges = std::move(kept);
  }
  return edges;
}

bool is_connected(const Pattern& pattern) {
  std::vector<bool> reached(pattern.vertices.size(), false);
  reached[0] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (const PatternEdge& edge : pattern.edges) {
      if (reached[edge.from] != reached[edge.to]) {
        reached[edge.from] = reached[edge.to] = true;
        grew = true;
      }
    }
  }
  return std::all_of(reached.begin(), reached.end(), [](bool r) { return r; });
}

/// Writes a template out: so many copies of each vertex in a chain, so many branches of all but the context.
class PatternWriter {
 public:
  PatternWriter(const FusionTemplate& fusion_template, const std::vector<int>& copies)
      : template_(fusion_template), copies_(copies), first_(copies.size()), last_(copies.size()) {}

  Pattern write(int branches) {
    const std::vector<TemplateEdge> edges = bridged_edges(template_, copies_);
    for (int branch = 1; branch <= branches; ++branch) {
      for (std::size_t v = 0; v < copies_.size(); ++v) {
        if (branch == 1 || !is_context(v)) add_chain(v, branch);
      }
      for (const TemplateEdge& edge : edges) {
        const std::size_t from = vertex_named(edge.from);
        const std::size_t to = vertex_named(edge.to);
        if (branch > 1 && is_context(from) && is_context(to)) continue;
        pattern_.edges.push_back({last_[from], first_[to], edge.slot});
      }
    }
    if (branches == 1) pattern_.branches.clear();
    return std::move(pattern_);
  }

 private:
  [[nodiscard]] bool is_context(std::size_t v) const { return template_.vertices[v].role == VertexRole::context; }

  void add_chain(std::size_t v, int branch) {
    const TemplateVertex& vertex = template_.vertices[v];
    first_[v] = pattern_.vertices.size();
    for (int copy = 1; copy <= copies_[v]; ++copy) {
      const std::size_t index = pattern_.vertices.size();
      if (copy > 1) pattern_.edges.push_back({index - 1, index, std::nullopt});
      VertexRole role = vertex.role;
      if (role == VertexRole::anchor) {
        if (branch == 1) pattern_.anchor = index;
        pattern_.branches.push_back(index);
        if (branch > 1) role = VertexRole::branch;
      }
      pattern_.vertices.push_back(
          {vertex.name + (copy == 1 ? "" : fmt::format("#{}", copy)) + (branch == 1 ? "" : fmt::format("@{}", branch)),
           v, role});
    }
    last_[v] = pattern_.vertices.size() - 1;
  }

  [[nodiscard]] std::size_t vertex_named(const std::string& name) const {
    const auto found = std::find_if(template_.vertices.begin(), template_.vertices.end(),
                                    [&](const TemplateVertex& vertex) { return vertex.name == name; });
    check(found != template_.vertices.end(), "an edge of a template names no vertex");
    return static_cast<std::size_t>(found - template_.vertices.begin());
  }

  const FusionTemplate& template_;
  const std::vector<int>& copies_;
  Pattern pattern_;
  std::vector<std::size_t> first_;  ///< by template vertex, in the branch at hand: its first copy
  std::vector<std::size_t> last_;
};

}  // namespace

std::int64_t expansion_count(const FusionTemplate& fusion_template) {
  std::int64_t count = 1;
  for (const TemplateVertex& vertex : fusion_template.vertices) {
    const std::int64_t choices = vertex.repeat + (vertex.optional ? 1 : 0);
    if (__builtin_mul_overflow(count, choices, &count)) return std::numeric_limits<std::int64_t>::max();
  }
  const std::int64_t branches = std::max(1, fusion_template.branches - 1);
  if (__builtin_mul_overflow(count, branches, &count)) return std::numeric_limits<std::int64_t>::max();
  return count;
}

std::vector<Pattern> expand(const FusionTemplate& fusion_template) {
  const std::vector<TemplateVertex>& vertices = fusion_template.vertices;
  check(!vertices.empty(), "a template has vertices");
  std::vector<int> copies;
  for (const TemplateVertex& vertex : vertices) copies.push_back(vertex.repeat);
  // All choices, counted down like an odometer whose last digit is the last vertex.
  std::vector<std::vector<int>> choices;
  for (bool more = true; more;) {
    choices.push_back(copies);
    more = false;
    for (std::size_t v = vertices.size(); v-- > 0 && !more;) {
      if (copies[v] > (vertices[v].optional ? 0 : 1)) {
        --copies[v];
        more = true;
      } else {
        copies[v] = vertices[v].repeat;
      }
    }
  }
  const auto length = [](const std::vector<int>& choice) { return std::accumulate(choice.begin(), choice.end(), 0); };
  std::vector<Pattern> patterns;
  for (const std::vector<int>& choice : choices) {
    if (length(choice) == 0) continue;
    for (int branches = fusion_template.branches; branches >= std::min(2, fusion_template.branches); --branches) {
      Pattern pattern = PatternWriter(fusion_template, choice).write(branches);
      if (is_connected(pattern)) patterns.push_back(std::move(pattern));
    }
  }
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const Pattern& a, const Pattern& b) { return a.vertices.size() > b.vertices.size(); });
  return patterns;
}

}  // namespace stowage
