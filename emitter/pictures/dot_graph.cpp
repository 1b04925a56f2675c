// SPDX-License-Identifier: Apache-2.0
#include "emitter/pictures/dot_graph.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/quoting.h"

namespace stowage {

namespace {

std::string list(const DotAttributes& attributes) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attributes) {
    const auto* const markup = std::get_if<DotMarkup>(&value);
    parts.push_back(fmt::format(
        "{}={}", name, markup != nullptr ? "<" + markup->text + ">" : dot_string(std::get<std::string>(value))));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void DotGraph::node(std::string id, DotAttributes attributes) {
  nodes_.push_back({std::move(id), std::move(attributes)});
}

void DotGraph::edge(std::string from, std::string to, int bundle, DotAttributes attributes) {
  edges_.push_back({std::move(from), std::move(to), bundle, std::move(attributes)});
}

void DotGraph::legend(const TemplateLook& look, const std::string& meaning) {
  legend_rows_ +=
      fmt::format(R"(<tr><td bgcolor="{}" border="1" style="{}" width="18"> </td><td align="left">{}</td></tr>)",
                  look.fill, style_of(look.border), label_text(meaning));
}

std::vector<DotNode> DotGraph::nodes() const {
  std::vector<DotNode> nodes = nodes_;
  if (legend_rows_.empty()) return nodes;
  DotMarkup rows{fmt::format(R"(<table border="0" cellborder="0" cellspacing="3">{}</table>)", legend_rows_)};
  nodes.push_back({"legend", {{"shape", "plain"}, {"style", ""}, {"class", "legend"}, {"label", std::move(rows)}}});
  return nodes;
}

std::string DotGraph::text() const {
  std::string text = fmt::format("digraph {} {{\n", dot_string(name_));
  const std::string font = "Helvetica,Arial,sans-serif";
  text += fmt::format("  graph [{}];\n", list({{"label", dot_label(title_)},
                                               {"labelloc", "t"},
                                               {"fontname", font},
                                               {"fontsize", "14"},
                                               {"bgcolor", "white"},
                                               {"pad", "0.2"},
                                               {"rankdir", "TB"},
                                               {"ranksep", "0.35"},
                                               {"nodesep", "0.3"}}));
  text += fmt::format("  node [{}];\n", list({{"shape", "box"},
                                              {"style", "rounded,filled"},
                                              {"fillcolor", "white"},
                                              {"color", "#555555"},
                                              {"fontcolor", "#111111"},
                                              {"fontname", font},
                                              {"fontsize", "10"},
                                              {"margin", "0.12,0.05"},
                                              {"height", "0.3"}}));
  text += fmt::format("  edge [{}];\n", list({{"color", "#555555"},
                                              {"fontcolor", "#333333"},
                                              {"fontname", font},
                                              {"fontsize", "8"},
                                              {"arrowsize", "0.6"}}));
  for (const DotNode& node : nodes()) text += fmt::format("  {} [{}];\n", node.id, list(node.attributes));
  for (const DotEdge& edge : edges_) {
    text += fmt::format("  {} -> {} [{}];\n", edge.from, edge.to, list(edge.attributes));
  }
  return text + "}\n";
}

std::string label_text(std::string_view name) {
  std::string line = escaped(terminal_text(name));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  // Graphviz refuses markup around nothing.
  return line.find_first_not_of(' ') == std::string::npos ? "&#160;" : line;
}

DotMarkup dot_label(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format(fmt::runtime(i == 0 ? "<b>{}</b>" : "<br/>{}"), label_text(lines[i]));
  }
  return {text};
}

DotMarkup dot_edge_label(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("&#160;&#160;{}<br align=\"left\"/>", label_text(line));
  return {text};
}

std::string_view style_of(TemplateLook::Border border) {
  switch (border) {
    case TemplateLook::Border::solid: return "solid";
    case TemplateLook::Border::dashed: return "dashed";
    case TemplateLook::Border::dotted: return "dotted";
  }
  return "solid";
}

std::string edge_width(std::int64_t bytes) {
  constexpr double thinnest_from = 12;  // log2: 4 KiB
  const double above = std::log2(static_cast<double>(std::max<std::int64_t>(1, bytes))) - thinnest_from;
  return fmt::format("{:.1f}", std::clamp(1 + above / 5, 1.0, 3.0));
}

std::string shape_label(const GraphTensor& tensor) {
  if (tensor.shape.empty()) return fmt::format("{} scalar", name_of(tensor.type));
  return fmt::format("{} {}", name_of(tensor.type), fmt::join(tensor.shape, "×"));
}

std::int64_t tensor_bytes(const GraphTensor& tensor) {
  return element_count(tensor.shape) * static_cast<std::int64_t>(byte_size(tensor.type));
}

}  // namespace stowage
