// SPDX-License-Identifier: Apache-2.0
// The picture of what a strategy searched.
#include <fmt/format.h>

#include "core/check.h"
#include "core/number_text.h"
#include "core/quoting.h"
#include "emitter/pictures/dot_graph.h"
#include "emitter/pictures/graph_picture.h"
#include "fusion/groups/group.h"

namespace stowage {

namespace {

constexpr std::size_t longest_label = 36;
constexpr const char* chosen_colour = "#D55E00";
constexpr const char* chosen_fill = "#F6C9B3";

void add_search(DotGraph& dot, const Graph& graph, const FusionRecord& record, std::size_t number) {
  const SearchGraph& search = record.graphs[number];
  const auto id = [&](std::size_t node) { return fmt::format("search{}_{}", number, node); };
  for (std::size_t i = 0; i < search.nodes.size(); ++i) {
    const SearchGraph::Node& node = search.nodes[i];
    std::vector<std::string> lines = {shortened(node.label, longest_label)};
    if (node.best_cycles) lines.push_back(fmt::format("at best {} cycles", grouped_digits(*node.best_cycles)));
    dot.node(id(i), {{"label", dot_label(lines)},
                     {"fillcolor", node.on_path ? chosen_fill : "white"},
                     {"tooltip", search.name + ": " + node.label}});
  }
  for (const SearchGraph::Edge& edge : search.edges) {
    const CandidateRecord& candidate = record.candidates.at(edge.candidate);
    const std::string names = names_of(graph, candidate.operators);
    const std::string tooltip =
        fmt::format("{}: {} cycles{}", names, grouped_digits(edge.cycles),
                    candidate.templates.empty() ? "" : ", template " + candidate.templates.front());
    DotAttributes attributes = {
        {"label", dot_edge_label({shortened(names, longest_label), grouped_digits(edge.cycles)})},
        {"edgetooltip", tooltip},
        {"labeltooltip", tooltip}};
    if (edge.on_path) {
      attributes.insert(attributes.end(),
                        {{"color", chosen_colour}, {"penwidth", "2.5"}, {"class", "chosen"}, {"weight", "8"}});
    } else {
      attributes.insert(attributes.end(), {{"style", "dashed"}});
    }
    dot.edge(id(edge.from), id(edge.to), static_cast<int>(dot.edges().size()), attributes);
  }
  if (search.nodes_left_out > 0) {
    dot.node(fmt::format("left_out{}", number),
             {{"shape", "note"},
              {"label", dot_label({fmt::format("{}: {} more states", search.name, search.nodes_left_out),
                                   "are left out: only those on and beside", "the chosen path are kept"})}});
  }
}

}  // namespace

DotGraph strategy_picture(const Graph& graph, const FusionRecord& record) {
  check(!record.graphs.empty(), "the strategy searched no graph");
  std::string title = fmt::format("{}: what fusion {} searched", graph.name(), record.strategy);
  if (!record.totals.empty()) {
    title += fmt::format(", {} cycles chosen", grouped_digits(record.totals.front().cycles));
  }
  DotGraph dot(graph.name(), {title});
  for (std::size_t i = 0; i < record.graphs.size(); ++i) add_search(dot, graph, record, i);
  dot.legend({TemplateLook::Border::solid, chosen_fill}, "on the chosen path (thick edges)");
  dot.legend({TemplateLook::Border::solid, "#FFFFFF"}, "other partial executions");
  dot.legend({TemplateLook::Border::dashed, "#FFFFFF"},
             "an edge is a fused operator with its cycles; dashed: not chosen");
  return dot;
}

}  // namespace stowage
