// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a graph come to lie.
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <thread>

#include "inspector/graph/dot_layout.h"
#include "inspector/graph/fold_layout.h"
#include "inspector/panes/graph_pane.h"
#include "tests/inspector/random_graph.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

QRectF box_of(const LayoutInput& input, const LayoutResult& layout, std::size_t node) {
  return {layout.nodes[node].x, layout.nodes[node].y, input.nodes[node].width, input.nodes[node].height};
}

/// Pairs of boxes that share more than an edge.
int overlaps(const std::vector<QRectF>& boxes) {
  int count = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t k = i + 1; k < boxes.size(); ++k) {
      count += boxes[i].adjusted(0.01, 0.01, -0.01, -0.01).intersects(boxes[k]) ? 1 : 0;
    }
  }
  return count;
}

TEST_CASE("a layered layout keeps nodes apart, edges downwards and labels free", "[inspector]") {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    INFO("seed " << seed);
    const LayoutInput input = random_graph(120, seed);
    const auto layout = beside([&] { return layered_layout(input); });
    REQUIRE(layout);
    std::vector<QRectF> taken;
    for (std::size_t i = 0; i < input.nodes.size(); ++i) {
      const QRectF box = box_of(input, *layout, i);
      CHECK(box.left() >= -1e-6);
      CHECK(box.right() <= layout->width + 1e-6);
      CHECK(box.bottom() <= layout->height + 1e-6);
      taken.push_back(box);
    }
    std::set<std::pair<int, int>> bundles;
    for (std::size_t e = 0; e < input.edges.size(); ++e) {
      const LayoutEdge& edge = input.edges[e];
      const auto& path = layout->edges[e];
      REQUIRE(path.size() % 3 == 1);
      CHECK(path.front().y == Approx(box_of(input, *layout, at(edge.from)).bottom()));
      CHECK(path.back().y == Approx(box_of(input, *layout, at(edge.to)).top()));
      CHECK(path.front().y < path.back().y);
      for (std::size_t p = 0; p + 3 < path.size(); p += 3) CHECK(path[p].y <= path[p + 3].y + 1e-9);
      if (!bundles.insert({edge.from, edge.bundle}).second) continue;
      QRectF label(0, 0, edge.label_width, edge.label_height);
      label.moveCenter({layout->labels[e].x, layout->labels[e].y});
      taken.push_back(label);
    }
    CHECK(overlaps(taken) == 0);
  }
}

TEST_CASE("a chain is laid out straight, ports are kept, and a stop ends the work", "[inspector]") {
  LayoutInput chain;
  for (int i = 0; i < 5; ++i) chain.nodes.push_back({50.0 + 20.0 * (i % 2), 30});
  for (int i = 0; i < 4; ++i) chain.edges.push_back({i, i + 1, i});
  const auto straight = beside([&] { return layered_layout(chain); });
  REQUIRE(straight);
  const double middle = straight->nodes[0].x + chain.nodes[0].width / 2;
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(straight->nodes[i].x + chain.nodes[i].width / 2 == Approx(middle).margin(0.5));

  chain.edges[0].from_port = 10;
  chain.edges[0].to_port = 5;
  const auto ports = beside([&] { return layered_layout(chain); });
  REQUIRE(ports);
  CHECK(ports->edges[0].front().x == Approx(ports->nodes[0].x + 10));
  CHECK(ports->edges[0].back().x == Approx(ports->nodes[1].x + 5));

  std::stop_source stopped;
  stopped.request_stop();
  CHECK_FALSE(beside([&] { return layered_layout(random_graph(50, 1), stopped.get_token()); }));
  LayoutInput ring;
  ring.nodes = {{1, 1}, {1, 1}};
  ring.edges = {{0, 1, 0}, {1, 0, 1}};
  CHECK_THROWS(beside([&] { return layered_layout(ring); }));
}

TEST_CASE("a long picture is folded into columns, a short one is not", "[inspector]") {
  // A network of blocks with a shortcut around each, and one edge from the beginning to the end.
  LayoutInput input;
  constexpr int blocks = 40;
  const auto edge = [&](int from, int to) {
    input.edges.push_back({from, to, from});
    input.edges.back().label_width = 60;
    input.edges.back().label_height = 24;
  };
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < 3; ++i) input.nodes.push_back({120, 50});
    edge(3 * b, 3 * b + 1);
    edge(3 * b + 1, 3 * b + 2);
    edge(3 * b, 3 * b + 2);
    if (b > 0) edge(3 * b - 1, 3 * b);
  }
  edge(0, 3 * blocks - 1);
  const auto layout = beside([&] { return layered_layout(input); });
  REQUIRE(layout);
  REQUIRE(layout->height > 6 * layout->width);
  const auto result = folded(input, *layout);
  REQUIRE(result);
  const LayoutResult& fold = *result;
  CHECK(fold.height < 1.5 * fold.width);
  REQUIRE(fold.columns.size() == input.nodes.size());
  CHECK(std::is_sorted(fold.columns.begin(), fold.columns.end()));
  CHECK(fold.columns.back() >= 3);
  std::vector<QRectF> taken;
  for (std::size_t i = 0; i < input.nodes.size(); ++i) {
    taken.push_back(box_of(input, fold, i));
    CHECK(QRectF(0, 0, fold.width, fold.height).adjusted(-1, -1, 1, 1).contains(taken.back()));
    // In a column what came first stands above; another column stands beside it.
    for (std::size_t k = 0; k < i; ++k) {
      if (fold.columns[k] == fold.columns[i])
        CHECK((layout->nodes[k].y < layout->nodes[i].y) == (fold.nodes[k].y < fold.nodes[i].y));
      if (fold.columns[k] < fold.columns[i]) CHECK(taken[k].right() < taken[i].left());
    }
  }
  std::set<std::pair<int, int>> bundles;
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const auto& path = fold.edges[e];
    REQUIRE(path.size() % 3 == 1);
    CHECK(path.front().y == Approx(box_of(input, fold, at(input.edges[e].from)).bottom()));
    CHECK(path.back().y == Approx(box_of(input, fold, at(input.edges[e].to)).top()));
    for (const LayoutPoint& point : path) {
      CHECK(point.x > -1);
      CHECK(point.y > -1);
      CHECK(point.x < fold.width + 1);
      CHECK(point.y < fold.height + 1);
    }
    // Straight through the gutters, never through a node.
    for (std::size_t p = 0; p + 3 < path.size(); p += 3) {
      if (std::abs(path[p].x - path[p + 3].x) > 0.01 || path[p].y <= path[p + 3].y) continue;
      for (const QRectF& box : taken) {
        CHECK_FALSE(box.intersects(QRectF(path[p + 3].x, path[p + 3].y, 0.1, path[p].y - path[p + 3].y)));
      }
    }
    if (bundles.insert({input.edges[e].from, input.edges[e].bundle}).second) {
      QRectF label(0, 0, input.edges[e].label_width, input.edges[e].label_height);
      label.moveCenter({fold.labels[e].x, fold.labels[e].y});
      taken.push_back(label);
    }
  }
  CHECK(overlaps(taken) == 0);

  LayoutInput few;
  for (int i = 0; i < 12; ++i) few.nodes.push_back({100, 50});
  for (int i = 0; i < 11; ++i) few.edges.push_back({i, i + 1, i});
  const auto low = beside([&] { return layered_layout(few); });
  CHECK_FALSE(folded(few, *low));
}

TEST_CASE("arrow keys walk through a folded picture in its order", "[inspector]") {
  GraphSketch sketch;
  constexpr int nodes = 60;
  for (int i = 0; i < nodes; ++i) {
    sketch.input.nodes.push_back({150, 54});
    if (i > 0) sketch.input.edges.push_back({i - 1, i, i});
    GraphNode node;
    node.step = StepId(at(i));
    node.subject = step_subject(node.step);
    sketch.picture.nodes.push_back(node);
    sketch.node_of.push_back(i);
  }
  const auto layout = beside([&] { return layered_layout(sketch.input); });
  REQUIRE(layout);
  sketch.input.edges.clear();
  Look look;
  GraphView view(look);
  view.resize(500, 400);
  LayoutResult nodes_only = *layout;
  nodes_only.edges.clear();
  nodes_only.labels.clear();
  view.setPicture(finish_picture(sketch, nodes_only, false), false);
  REQUIRE(view.picture()->nodes.back().column > 0);
  Subject subject = step_subject(StepId(0));
  QObject::connect(&view, &GraphView::chosen, [&](const Subject& chosen) { view.setLit(subject = chosen, {}); });
  view.setLit(subject, {});
  for (int i = 1; i < nodes; ++i) {
    QTest::keyClick(&view, Qt::Key_Down);
    CHECK(subject.step == StepId(at(i)));
  }
  for (int i = nodes - 1; i-- > 0;) {
    QTest::keyClick(&view, Qt::Key_Up);
    CHECK(subject.step == StepId(at(i)));
  }
}

TEST_CASE("what dot answers is read, and what is damaged is not", "[inspector]") {
  LayoutInput input;
  input.nodes = {{72, 36}, {72, 36}};
  input.edges = {{0, 1, 0, -1, -1, 20, 10}};
  const std::string answer =
      "graph 1 2 3\nnode 0 1 2.75 1 0.5 \"\" solid box black lightgrey\nnode 1 1 0.25 1 0.5 \"\" solid box black "
      "lightgrey\nedge 0 1 4 1 2.5 1 2 1 1 1 0.5 \"<TABLE>\" 1.2 1.5 solid black\nstop\n";
  const auto layout = read_dot_answer(answer, input);
  REQUIRE(layout);
  CHECK(layout->nodes[0].x == Approx(36));
  CHECK(layout->nodes[0].y == Approx(0).margin(1e-6));
  CHECK(layout->nodes[1].y == Approx(180));
  CHECK(layout->edges[0].size() == 4);
  CHECK(layout->edges[0].back().y == Approx(180));
  CHECK(layout->labels[0].x == Approx(86.4));
  CHECK_FALSE(read_dot_answer(answer.substr(0, answer.find("node 1")), input));
  CHECK_FALSE(read_dot_answer(answer.substr(0, answer.find("2.5 1 2")), input));
  CHECK_FALSE(read_dot_answer("", input));
  CHECK_FALSE(read_dot_answer("graph 1 2 3\nnode 7 1 1 1 1\n", input));
  LayoutInput other = input;
  other.edges[0] = {1, 0, 0};
  CHECK_FALSE(read_dot_answer(answer, other));
}

TEST_CASE("dot's layouts are kept by what was asked, damaged ones are not read, a stop ends it", "[inspector]") {
  const QTemporaryDir folder;
  LayoutInput input = random_graph(20, 7);
  input.edges.resize(19);
  Diagnostics diagnostics;
  std::optional<LayoutResult> asked, kept, unknown, stopped;
  std::jthread([&] {
    const std::vector<std::string> folders = {"/proc/nowhere", folder.path().toStdString()};
    asked = dot_layout(input, folders, diagnostics);
    kept = kept_dot_layout(input, folders);
    LayoutInput other = input;
    other.nodes[0].width += 1;
    unknown = kept_dot_layout(other, folders);
    std::stop_source stop;
    stop.request_stop();
    stopped = dot_layout(other, folders, diagnostics, stop.get_token());
  }).join();
  if (!asked) {
    CHECK_FALSE(diagnostics.entries().empty());
    WARN("skipped, 1 case: no Graphviz");
    return;
  }
  REQUIRE(kept);
  CHECK(kept->nodes[3].x == asked->nodes[3].x);
  CHECK_FALSE(unknown);
  CHECK_FALSE(stopped);
  CHECK_THROWS(kept_dot_layout(input, {}));  // on this thread, which is the window's
}

}  // namespace
}  // namespace stowage::test
