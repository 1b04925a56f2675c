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

namespace {

/// What dot says in its format "plain", a line at a time.
class DotAnswer {
 public:
  explicit DotAnswer(const LayoutInput& input) : input_(input), with_label_(labelled(input)) {
    result_.nodes.resize(input.nodes.size());
    result_.edges.resize(input.edges.size());
    result_.labels.resize(input.edges.size());
    for (std::size_t e = input.edges.size(); e-- > 0;) {
      waiting_[{input.edges[e].from, input.edges[e].to}].push_back(e);
    }
  }

  /// False if the line is not what dot answers to this input.
  bool read(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "graph") return read_graph(words);
    if (what == "node") return read_node(words);
    if (what == "edge") return read_edge(words);
    return true;
  }

  /// Nothing if something was missing.
  std::optional<LayoutResult> result() && {
    if (nodes_found_ != input_.nodes.size()) return std::nullopt;
    for (std::size_t e = 0; e < input_.edges.size(); ++e) {
      if (result_.edges[e].empty()) return std::nullopt;
      end_at_ports(e);
    }
    return std::move(result_);
  }

 private:
  /// dot measures upwards, in inches.
  [[nodiscard]] LayoutPoint point_at(double x, double y) const {
    return {x * points_per_inch, result_.height - y * points_per_inch};
  }

  bool read_graph(std::istringstream& words) {
    double scale = 0;
    words >> scale >> result_.width >> result_.height;
    result_.width *= points_per_inch;
    result_.height *= points_per_inch;
    return !words.fail();
  }

  bool read_node(std::istringstream& words) {
    std::size_t node = 0;
    double x = 0;
    double y = 0;
    words >> node >> x >> y;
    if (!words || node >= input_.nodes.size()) return false;
    const LayoutPoint middle = point_at(x, y);
    result_.nodes[node] = {middle.x - input_.nodes[node].width / 2, middle.y - input_.nodes[node].height / 2};
    ++nodes_found_;
    return true;
  }

  bool read_edge(std::istringstream& words) {
    int from = 0;
    int to = 0;
    std::size_t count = 0;
    words >> from >> to >> count;
    const auto waiting = waiting_.find({from, to});
    if (!words || count < 4 || count % 3 != 1 || waiting == waiting_.end() || waiting->second.empty()) return false;
    const std::size_t e = waiting->second.back();
    waiting->second.pop_back();
    for (std::size_t p = 0; p < count && words; ++p) {
      double x = 0;
      double y = 0;
      words >> x >> y;
      result_.edges[e].push_back(point_at(x, y));
    }
    return words && (!with_label_[e] || read_label(words, e));
  }

  /// Its text is something in brackets or quotes; its place are the last two numbers before the style.
  bool read_label(std::istringstream& words, std::size_t e) {
    std::vector<std::string> rest;
    for (std::string word; words >> word;) rest.push_back(word);
    if (rest.size() < 4) return false;
    try {
      result_.labels[e] = point_at(std::stod(rest[rest.size() - 4]), std::stod(rest[rest.size() - 3]));
    } catch (const std::exception&) {
      return false;
    }
    return true;
  }

  /// dot ends edges at the middle of a side; ours may end elsewhere on it.
  void end_at_ports(std::size_t e) {
    const LayoutEdge& edge = input_.edges[e];
    auto& path = result_.edges[e];
    const auto end_at = [&](std::size_t point, std::size_t next, int node, double port, double y) {
      if (port < 0) return;
      const double x = result_.nodes[static_cast<std::size_t>(node)].x + port;
      path[next].x += x - path[point].x;
      path[point] = {x, y};
    };
    const auto& source = input_.nodes[static_cast<std::size_t>(edge.from)];
    end_at(0, 1, edge.from, edge.from_port, result_.nodes[static_cast<std::size_t>(edge.from)].y + source.height);
    end_at(path.size() - 1, path.size() - 2, edge.to, edge.to_port, result_.nodes[static_cast<std::size_t>(edge.to)].y);
  }

  const LayoutInput& input_;
  std::vector<bool> with_label_;  ///< by edge
  /// Edges by nodes. Several may join the same two; dot answers them in no promised order, but each pair's are alike.
  std::map<std::pair<int, int>, std::vector<std::size_t>> waiting_;
  std::size_t nodes_found_ = 0;
  LayoutResult result_;
};

}  // namespace

std::optional<LayoutResult> read_dot_answer(const std::string& answer, const LayoutInput& input) {
  DotAnswer read(input);
  std::istringstream lines(answer);
  std::string line;
  while (std::getline(lines, line)) {
    if (!read.read(line)) return std::nullopt;
  }
  return std::move(read).result();
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
