// SPDX-License-Identifier: Apache-2.0
#include "inspector/graph/dot_layout.h"

#include <QDir>
#include <QFile>
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "driver/session/session.h"
#include "emitter/pictures/graphviz.h"
#include "inspector/state/background.h"
#include "inspector/state/files.h"

namespace stowage::inspector {

namespace {

constexpr double points_per_inch = 72;

QString path_in(const std::string& folder, const std::string& name) {
  return QDir(QString::fromStdString(folder)).filePath(QString::fromStdString(name));
}

std::string file_name(const std::string& question) {
  const std::string hash = hash_of(std::as_bytes(std::span(question.data(), question.size())));
  return hash.substr(hash.find(':') + 1) + ".plain";
}

/// True for the edge of a bundle that carries its label.
std::vector<bool> labelled(const LayoutInput& input) {
  std::map<std::pair<int, int>, bool> seen;
  std::vector<bool> first;
  for (const LayoutEdge& edge : input.edges) {
    first.push_back(edge.label_width > 0 && !std::exchange(seen[{edge.from, edge.bundle}], true));
  }
  return first;
}

}  // namespace

std::string dot_question(const LayoutInput& input) {
  // One of our units is one of dot's points.
  std::string text = fmt::format(
      "digraph g {{\nnodesep={:.3f}; ranksep={:.3f};\nnode [shape=box, fixedsize=true, label=\"\"];\n"
      "edge [arrowhead=none];\n",
      input.gap_across / points_per_inch, 2 * input.gap_down / points_per_inch);
  for (std::size_t i = 0; i < input.nodes.size(); ++i) {
    text += fmt::format("{} [width={:.4f}, height={:.4f}];\n", i, input.nodes[i].width / points_per_inch,
                        input.nodes[i].height / points_per_inch);
  }
  const std::vector<bool> with_label = labelled(input);
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const LayoutEdge& edge = input.edges[e];
    // The nearest of dot's three places on a side, so that edges arrive in the order of their ports.
    const auto corner = [](double port, double width, const char* side) {
      const double share = port < 0 ? 0.5 : port / width;
      return std::string(side) + (share < 0.45 ? "w" : share > 0.55 ? "e" : "");
    };
    text += fmt::format("{}:{} -> {}:{}", edge.from,
                        corner(edge.from_port, input.nodes[static_cast<std::size_t>(edge.from)].width, "s"), edge.to,
                        corner(edge.to_port, input.nodes[static_cast<std::size_t>(edge.to)].width, "n"));
    if (with_label[e]) {
      // A table without text is exactly as large as we say, whatever fonts dot has.
      text += fmt::format(
          R"( [label=<<table border="0" fixedsize="true" width="{:.0f}" height="{:.0f}"><tr><td></td></tr></table>>])",
          std::ceil(edge.label_width) + 4, std::ceil(edge.label_height));
    }
    text += ";\n";
  }
  return text + "}\n";
}

std::optional<LayoutResult> read_dot_answer(const std::string& answer, const LayoutInput& input) {
  LayoutResult result;
  result.nodes.resize(input.nodes.size());
  result.edges.resize(input.edges.size());
  result.labels.resize(input.edges.size());
  // Several edges may join the same two nodes; dot answers them in no promised order, but each pair's are alike.
  std::map<std::pair<int, int>, std::vector<std::size_t>> edges;
  for (std::size_t e = input.edges.size(); e-- > 0;) edges[{input.edges[e].from, input.edges[e].to}].push_back(e);
  const std::vector<bool> with_label = labelled(input);
  std::size_t nodes_found = 0;
  std::istringstream lines(answer);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "graph") {
      double scale = 0;
      words >> scale >> result.width >> result.height;
      if (!words) return std::nullopt;
      result.width *= points_per_inch;
      result.height *= points_per_inch;
    } else if (what == "node") {
      std::size_t node = 0;
      double x = 0;
      double y = 0;
      words >> node >> x >> y;
      if (!words || node >= input.nodes.size()) return std::nullopt;
      result.nodes[node] = {x * points_per_inch - input.nodes[node].width / 2,
                            result.height - y * points_per_inch - input.nodes[node].height / 2};
      ++nodes_found;
    } else if (what == "edge") {
      int from = 0;
      int to = 0;
      std::size_t count = 0;
      words >> from >> to >> count;
      const auto waiting = edges.find({from, to});
      if (!words || count < 4 || count % 3 != 1 || waiting == edges.end() || waiting->second.empty()) {
        return std::nullopt;
      }
      const std::size_t e = waiting->second.back();
      waiting->second.pop_back();
      const auto read_point = [&] {
        double x = 0;
        double y = 0;
        words >> x >> y;
        return LayoutPoint{x * points_per_inch, result.height - y * points_per_inch};
      };
      for (std::size_t p = 0; p < count && words; ++p) result.edges[e].push_back(read_point());
      if (!words) return std::nullopt;
      if (with_label[e]) {
        // The label's text is something in brackets or quotes; its place are the last two numbers before the style.
        std::vector<std::string> rest;
        for (std::string word; words >> word;) rest.push_back(word);
        if (rest.size() < 4) return std::nullopt;
        try {
          result.labels[e] = {std::stod(rest[rest.size() - 4]) * points_per_inch,
                              result.height - std::stod(rest[rest.size() - 3]) * points_per_inch};
        } catch (const std::exception&) {
          return std::nullopt;
        }
      }
    }
  }
  if (nodes_found != input.nodes.size()) return std::nullopt;
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    if (result.edges[e].empty()) return std::nullopt;
    const LayoutEdge& edge = input.edges[e];
    // dot ends edges at the middle of a side; ours may end elsewhere on it.
    auto& path = result.edges[e];
    const auto end_at = [&](std::size_t point, std::size_t next, int node, double port, double y) {
      if (port < 0) return;
      const double x = result.nodes[static_cast<std::size_t>(node)].x + port;
      path[next].x += x - path[point].x;
      path[point] = {x, y};
    };
    const auto& source = input.nodes[static_cast<std::size_t>(edge.from)];
    end_at(0, 1, edge.from, edge.from_port, result.nodes[static_cast<std::size_t>(edge.from)].y + source.height);
    end_at(path.size() - 1, path.size() - 2, edge.to, edge.to_port, result.nodes[static_cast<std::size_t>(edge.to)].y);
  }
  return result;
}

std::optional<LayoutResult> kept_dot_layout(const LayoutInput& input, const std::vector<std::string>& folders) {
  off_window_thread("a graph was laid out");
  const std::string name = file_name(dot_question(input));
  for (const std::string& folder : folders) {
    QFile kept(path_in(folder, name));
    if (!kept.open(QIODevice::ReadOnly)) continue;
    if (auto result = read_dot_answer(kept.readAll().toStdString(), input)) return result;
  }
  return std::nullopt;
}

std::optional<LayoutResult> dot_layout(const LayoutInput& input, const std::vector<std::string>& folders,
                                       Diagnostics& diagnostics, std::stop_token stop) {
  off_window_thread("a graph was laid out");
  const std::string question = dot_question(input);
  const std::string name = file_name(question);
  const auto answer = ask_graphviz(question, "plain", usual_layout_time, diagnostics, stop);
  if (!answer) return std::nullopt;
  if (answer->out_of_time) {
    diagnostics.error("layout-timeout", {},
                      fmt::format("Graphviz had found none within {} s",
                                  std::chrono::duration_cast<std::chrono::seconds>(usual_layout_time).count()));
    return std::nullopt;
  }
  auto result = read_dot_answer(answer->text, input);
  if (!result) {
    diagnostics.error("graphviz", {}, "the answer of 'dot' cannot be read", "the simple layout stays");
    return std::nullopt;
  }
  for (const std::string& folder : folders) {
    if (!make_folder(QString::fromStdString(folder)).isEmpty()) continue;
    if (write_file(path_in(folder, name), QByteArray::fromStdString(answer->text)).isEmpty()) break;
  }
  return result;
}

}  // namespace stowage::inspector
