// SPDX-License-Identifier: Apache-2.0
#include "fusion/pattern.h"

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

Pattern pattern_of(const FusionTemplate& fusion_template, const std::vector<int>& copies) {
  Pattern pattern;
  std::vector<std::size_t> first(copies.size());
  std::vector<std::size_t> last(copies.size());
  for (std::size_t v = 0; v < copies.size(); ++v) {
    const TemplateVertex& vertex = fusion_template.vertices[v];
    first[v] = pattern.vertices.size();
    for (int copy = 1; copy <= copies[v]; ++copy) {
      const std::size_t index = pattern.vertices.size();
      if (copy > 1) pattern.edges.push_back({index - 1, index, -1});
      if (vertex.role == VertexRole::anchor) pattern.anchor = index;
      pattern.vertices.push_back({copy == 1 ? vertex.name : fmt::format("{}#{}", vertex.name, copy), v, vertex.role});
    }
    last[v] = pattern.vertices.size() - 1;
  }
  const auto vertex_named = [&](const std::string& name) {
    const auto found = std::find_if(fusion_template.vertices.begin(), fusion_template.vertices.end(),
                                    [&](const TemplateVertex& vertex) { return vertex.name == name; });
    check(found != fusion_template.vertices.end(), "an edge of a template names no vertex");
    return static_cast<std::size_t>(found - fusion_template.vertices.begin());
  };
  for (const TemplateEdge& edge : bridged_edges(fusion_template, copies)) {
    pattern.edges.push_back({last[vertex_named(edge.from)], first[vertex_named(edge.to)], edge.slot});
  }
  return pattern;
}

}  // namespace

std::int64_t expansion_count(const FusionTemplate& fusion_template) {
  std::int64_t count = 1;
  for (const TemplateVertex& vertex : fusion_template.vertices) {
    const std::int64_t choices = vertex.repeat + (vertex.optional ? 1 : 0);
    if (__builtin_mul_overflow(count, choices, &count)) return std::numeric_limits<std::int64_t>::max();
  }
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
  std::stable_sort(choices.begin(), choices.end(), [&](const auto& a, const auto& b) { return length(a) > length(b); });
  std::vector<Pattern> patterns;
  for (const std::vector<int>& choice : choices) {
    if (length(choice) == 0) continue;
    Pattern pattern = pattern_of(fusion_template, choice);
    if (is_connected(pattern)) patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace stowage
