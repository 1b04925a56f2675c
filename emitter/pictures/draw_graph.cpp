// SPDX-License-Identifier: Apache-2.0
#include "emitter/pictures/draw_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "emitter/pictures/graphviz.h"
#include "emitter/pictures/layered_layout.h"

namespace stowage {

namespace {

constexpr double points_per_inch = 72;
constexpr double arrow_length = 6;

std::string node_of(const std::string& end) { return end.substr(0, end.find(':')); }

const DotMarkup* label_of(const DotAttributes& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name == "label") return std::get_if<DotMarkup>(&value);
  }
  return nullptr;
}

std::string label_id(std::size_t edge) { return fmt::format("label{}", edge); }

/// When all that Graphviz is asked for one picture has to be answered.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds time) : time_(time), end_(Clock::now() + time) {}
  [[nodiscard]] std::chrono::milliseconds left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }
  [[nodiscard]] std::chrono::milliseconds time() const { return time_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::milliseconds time_;
  Clock::time_point end_;
};

std::string seconds_of(std::chrono::milliseconds time) {
  return fmt::format("{} s", static_cast<double>(time.count()) / 1000);
}

/// What `dot` makes of a graph whose nodes have their places.
Result<std::string> draw_in_time(const std::string& dot_text, const std::string& format, const Deadline& deadline,
                                 Diagnostics& diagnostics, const std::stop_token& stop) {
  auto answer = draw_placed(dot_text, format, deadline.left(), diagnostics, stop);
  if (!answer) return Failed{};
  if (!answer->out_of_time) return std::move(answer->text);
  diagnostics.error("graphviz", {},
                    fmt::format("'dot' had not drawn the picture within {}", seconds_of(deadline.time())),
                    "write a FILE.dot and draw that");
  return Failed{};
}

/// Widths and heights, in points, of a graph's nodes and of its edges' labels (label_id). Only Graphviz knows how wide
/// the letters of its fonts are.
std::optional<std::map<std::string, LayoutNode>> sizes_of(const DotGraph& graph, const Deadline& deadline,
                                                          Diagnostics& diagnostics, const std::stop_token& stop) {
  DotGraph alone("sizes", {"sizes"});
  const auto add = [&](const std::string& id, DotAttributes attributes) {
    attributes.emplace_back("pos", "0,0");
    alone.node(id, std::move(attributes));
  };
  const std::vector<DotNode> nodes = graph.nodes();
  for (const DotNode& node : nodes) add(node.id, node.attributes);
  for (std::size_t e = 0; e < graph.edges().size(); ++e) {
    if (const DotMarkup* const label = label_of(graph.edges()[e].attributes)) {
      add(label_id(e), {{"shape", "plain"}, {"fontsize", "8"}, {"label", *label}});
    }
  }
  const auto answer = draw_in_time(alone.text(), "plain", deadline, diagnostics, stop);
  if (!answer) return std::nullopt;
  std::map<std::string, LayoutNode> sizes;
  std::istringstream lines(*answer);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, id;
    double x = 0;
    double y = 0;
    LayoutNode size;
    if (words >> what >> id >> x >> y >> size.width >> size.height && what == "node") {
      sizes[id] = {size.width * points_per_inch, size.height * points_per_inch};
    }
  }
  const bool complete =
      std::all_of(nodes.begin(), nodes.end(), [&](const DotNode& node) { return sizes.contains(node.id); });
  if (complete) return sizes;
  diagnostics.error("graphviz", {}, "the answer of 'dot' cannot be read");
  return std::nullopt;
}

/// The same graph with a place for everything.
DotGraph placed(const DotGraph& graph, const std::vector<std::string>& title,
                const std::map<std::string, LayoutNode>& sizes, const std::optional<LayoutResult>& layout,
                const LayoutInput& input) {
  const auto down = [&](double y) { return layout->height - y; };  // Graphviz counts upwards
  DotGraph result(graph.name(), title);
  const std::vector<DotNode> nodes = graph.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    DotAttributes attributes = nodes[i].attributes;
    const bool beside = i >= input.nodes.size();  // the legend
    const LayoutNode size = sizes.at(nodes[i].id);
    const LayoutPoint corner = beside ? LayoutPoint{layout->width + input.gap_across, 0} : layout->nodes[i];
    attributes.emplace_back("pos",
                            fmt::format("{:.2f},{:.2f}", corner.x + size.width / 2, down(corner.y + size.height / 2)));
    result.node(nodes[i].id, std::move(attributes));
  }
  std::set<std::pair<int, int>> labelled;
  for (std::size_t e = 0; e < graph.edges().size(); ++e) {
    const DotEdge& edge = graph.edges()[e];
    DotAttributes attributes = edge.attributes;
    if (label_of(attributes) != nullptr) {
      if (labelled.emplace(input.edges[e].from, edge.bundle).second) {
        attributes.emplace_back("lp", fmt::format("{:.2f},{:.2f}", layout->labels[e].x + input.edges[e].label_width / 4,
                                                  down(layout->labels[e].y)));
      } else {
        std::erase_if(attributes, [](const auto& attribute) { return attribute.first == "label"; });
      }
    }
    const std::vector<LayoutPoint>& path = layout->edges[e];
    std::string pos = fmt::format("e,{:.2f},{:.2f}", path.back().x, down(path.back().y));
    for (std::size_t p = 0; p < path.size(); ++p) {
      const double y = down(path[p].y) + (p + 1 == path.size() ? arrow_length : 0);
      pos += fmt::format(" {:.2f},{:.2f}", path[p].x, y);
    }
    attributes.emplace_back("pos", std::move(pos));
    result.edge(node_of(edge.from), node_of(edge.to), edge.bundle, std::move(attributes));
  }
  return result;
}

}  // namespace

Result<std::string> draw_graph(const DotGraph& graph, const std::string& format, std::chrono::milliseconds layout_time,
                               Diagnostics& diagnostics, const std::stop_token& stop,
                               std::chrono::milliseconds drawing_time) {
  const Deadline deadline(layout_time + drawing_time);
  auto answer = ask_graphviz(graph.text(), format, layout_time, diagnostics, stop);
  if (!answer) return Failed{};
  if (!answer->out_of_time) return std::move(answer->text);

  const auto sizes = sizes_of(graph, deadline, diagnostics, stop);
  if (!sizes) return Failed{};
  LayoutInput input;
  std::map<std::string, int> index;
  for (const DotNode& node : graph.nodes()) {
    if (node.id == "legend") continue;
    index[node.id] = static_cast<int>(input.nodes.size());
    input.nodes.push_back(sizes->at(node.id));
  }
  for (std::size_t e = 0; e < graph.edges().size(); ++e) {
    const DotEdge& edge = graph.edges()[e];
    const auto label = sizes->find(label_id(e));
    const LayoutNode size = label != sizes->end() ? label->second : LayoutNode{};
    // Twice as wide as it is, because a label stands on the right of its edge.
    input.edges.push_back(
        {index.at(node_of(edge.from)), index.at(node_of(edge.to)), edge.bundle, -1, -1, 2 * size.width, size.height});
  }
  const auto layout = layered_layout(input, stop);
  if (!layout) return Failed{};
  const std::string seconds = seconds_of(layout_time);
  std::vector<std::string> title = graph.title();
  title.push_back(fmt::format("A simpler layout: Graphviz had found none within {}", seconds));
  const auto picture =
      draw_in_time(placed(graph, title, *sizes, layout, input).text(), format, deadline, diagnostics, stop);
  if (!picture) return Failed{};
  diagnostics.warning("layout-timeout", {},
                      fmt::format("Graphviz had found no layout within {}; the picture has a simpler one", seconds),
                      "give it longer with --layout-timeout SECONDS");
  return *picture;
}

}  // namespace stowage
