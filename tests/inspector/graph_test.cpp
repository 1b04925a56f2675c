// SPDX-License-Identifier: Apache-2.0
// The panes of graphs. Where their nodes come to lie is in graph_layout_test.cpp.
#include <QElapsedTimer>
#include <QImage>
#include <QLabel>
#include <QTest>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <set>
#include <thread>

#include "inspector/graph/dot_layout.h"
#include "inspector/panes/graph_pane.h"
#include "tests/inspector/random_graph.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

/// Pictures with our own layout, made beside the window's thread.
PicturePtr picture_of(const LoadedPlan& plan, const GraphWish& wish) {
  PicturePtr picture;
  std::jthread([&] {
    const auto sketch = sketch_graph(plan, wish);
    picture = finish_picture(*sketch, *layered_layout(sketch->input), false);
  }).join();
  return picture;
}

GraphWish wish_for(GraphKind kind) {
  const Look look;
  return {kind, {}, TextMeasure(look.textFont()), TextMeasure(look.smallFont()), {}};
}

TEST_CASE("the graphs of a plan show every operator, group and tensor between them", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const Graph& graph = plan->graph();
  const PicturePtr computation = picture_of(*plan, wish_for(GraphKind::computation));
  std::size_t operators = 0;
  for (const GraphNode& node : computation->nodes) operators += node.kind == GraphNode::Kind::op ? 1U : 0U;
  CHECK(operators == graph.operators().size());
  CHECK(computation->nodes.size() == operators + graph.inputs().size() + graph.outputs().size());
  for (std::size_t i = 0; i < operators; ++i) {
    const int node = computation->find(op_subject(std::nullopt, OpId(i)));
    REQUIRE(node >= 0);
    CHECK(computation->nodes[at(node)].tip.contains(qt(graph.operators()[i].name)));
  }

  GraphWish wish = wish_for(GraphKind::fused);
  const PicturePtr open = picture_of(*plan, wish);
  for (const StepId s : plan->steps.ids()) wish.flipped.insert(s);
  const PicturePtr closed = picture_of(*plan, wish);
  std::size_t boxes = 0;
  for (const GraphNode& node : open->nodes) {
    boxes += node.open ? 1U : 0U;
    if (!node.around) continue;
    CHECK(open->nodes[at(*node.around)].rect.contains(node.rect));
    CHECK(open->nodes[at(*node.around)].step == node.step);
  }
  CHECK(boxes > 0);
  CHECK(closed->nodes.size() == plan->steps.size() + graph.inputs().size() + graph.outputs().size());
  for (const PicturePtr& picture : {computation, open, closed}) {
    for (const GraphEdge& edge : picture->edges) {
      CHECK(edge.path.size() % 3 == 1);
      CHECK_FALSE(edge.bytes.isEmpty());
      CHECK(edge.tip.contains(edge.bytes));
    }
    for (std::size_t i = 0; i < picture->nodes.size(); ++i) {
      for (std::size_t k = i + 1; k < picture->nodes.size(); ++k) {
        const GraphNode& one = picture->nodes[i];
        const GraphNode& other = picture->nodes[k];
        if (one.around != other.around) continue;
        CHECK_FALSE(one.rect.intersects(other.rect));
      }
    }
  }
}

struct ShownGraph {
  Look look;
  Document document;
  Selection selection{document};
  GraphPane pane{{document, selection, look}};
  explicit ShownGraph(const std::string& name) {
    pane.resize(700, 600);
    pane.show();
    document.show(sample_plan(name));
    REQUIRE(wait_until([&] { return pane.view(GraphKind::fused).picture() != nullptr && !pane.busy(); }));
  }
};

TEST_CASE("without Graphviz the pane says whose layout it shows, and what to install", "[inspector]") {
  const QByteArray path = qgetenv("PATH");
  qputenv("PATH", "/nowhere");
  ShownGraph shown("lenet");
  shown.look.setPointSize(13.3);  // a graph that dot has not been asked for before
  shown.pane.flush();
  REQUIRE(wait_until([&] { return !shown.pane.busy(); }));
  QString said;
  for (const QLabel* label : shown.pane.findChildren<QLabel*>()) {
    if (label->isVisible()) said += label->text();
  }
  qputenv("PATH", path);
  CHECK(said.contains(QStringLiteral("Graphviz is not installed")));
  REQUIRE(shown.pane.view(GraphKind::fused).picture());
  CHECK_FALSE(shown.pane.view(GraphKind::fused).picture()->by_dot);
}

TEST_CASE("nodes are chosen by mouse and keys, and follow what is chosen elsewhere", "[inspector]") {
  ShownGraph shown("lenet");
  GraphView& view = shown.pane.view(GraphKind::fused);
  const auto& nodes = view.picture()->nodes;
  const int first = view.picture()->find(step_subject(StepId(0)));
  REQUIRE(first >= 0);
  const QPointF heading = nodes[at(first)].rect.topLeft() + QPointF(nodes[at(first)].rect.width() / 2, 8);
  QTest::mouseClick(&view, Qt::LeftButton, {}, view.fromPicture(heading).toPoint());
  CHECK(shown.selection.subject() == step_subject(StepId(0)));
  shown.pane.flush();
  QTest::keyClick(&view, Qt::Key_Down);
  CHECK(shown.selection.subject().step > StepId(0));
  CHECK_FALSE(shown.selection.subject().op);

  // At 100 % the far end is out of sight until it is chosen.
  view.setActualSize();
  const StepId last(shown.document.plan()->steps.size() - 1);
  shown.selection.select(step_subject(last));
  shown.pane.flush();
  const GraphNode& end = view.picture()->nodes[at(view.picture()->find(step_subject(last)))];
  CHECK(QRectF(view.rect()).contains(view.fromPicture(end.rect.center())));
  CHECK(view.scale() == 1);

  QTest::keyClick(&view, Qt::Key_Minus);
  CHECK(view.scale() == Approx(0.8));
  QTest::keyClick(&view, Qt::Key_F);
  const QRectF all(view.fromPicture(view.picture()->bounds.topLeft()), view.picture()->bounds.size() * view.scale());
  CHECK(QRectF(view.rect()).contains(all));
  QTest::keyClick(&view, Qt::Key_1);
  CHECK(view.scale() == 1);
}

TEST_CASE("a group opens and closes, and both graphs light what corresponds", "[inspector]") {
  ShownGraph shown("lenet");
  GraphView& fused = shown.pane.view(GraphKind::fused);
  std::optional<StepId> group;
  for (const StepId s : shown.document.plan()->steps.ids()) {
    if (!group && shown.document.plan()->steps[s].step->group.operators.size() > 1) group = s;
  }
  REQUIRE(group);
  shown.selection.select(step_subject(group));
  const auto is_open = [&] { return fused.picture()->nodes[at(fused.picture()->find(step_subject(group)))].open; };
  shown.pane.flush();
  CHECK(is_open());
  QTest::keyClick(&fused, Qt::Key_Return);
  CHECK(wait_until([&] { return !is_open() && !shown.pane.busy(); }));

  shown.pane.setMode(GraphPane::Mode::both);
  GraphView& computation = shown.pane.view(GraphKind::computation);
  REQUIRE(wait_until([&] { return computation.picture() != nullptr && !shown.pane.busy(); }));
  CHECK_FALSE(is_open());
  const OpId op = shown.document.plan()->steps[*group].step->group.operators.back();
  const int node = computation.picture()->find(op_subject(std::nullopt, op));
  QTest::mouseClick(&computation, Qt::LeftButton, {},
                    computation.fromPicture(computation.picture()->nodes[at(node)].rect.center()).toPoint());
  CHECK(shown.selection.subject() == op_subject(group, op));
  CHECK(fused.picture()->nodes[at(fused.picture()->find(shown.selection.subject()))].step == group);
}

TEST_CASE("a search finds by regular expression, forwards and backwards, and says what is wrong", "[inspector]") {
  ShownGraph shown("lenet");
  std::vector<OpId> wanted;
  const auto operators = shown.document.plan()->graph().operators();
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].kind == "Gemm" || operators[i].kind == "Conv") wanted.push_back(OpId(i));
  }
  REQUIRE(wanted.size() > 2);
  shown.pane.setMode(GraphPane::Mode::computation);
  REQUIRE(wait_until([&] { return !shown.pane.busy(); }));
  shown.pane.search(QStringLiteral("^(gemm|conv)$"));
  CHECK(shown.pane.matchCount() == wanted.size());
  CHECK(shown.selection.subject().op == wanted[0]);
  QTest::keyClick(shown.pane.searchLine(), Qt::Key_Return);
  CHECK(shown.selection.subject().op == wanted[1]);
  QTest::keyClick(shown.pane.searchLine(), Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClick(shown.pane.searchLine(), Qt::Key_Return, Qt::ShiftModifier);
  CHECK(shown.selection.subject().op == wanted.back());
  // Names, kinds and shapes each by itself.
  shown.pane.search(QStringLiteral("^conv1$"));
  CHECK(shown.pane.matchCount() == 1);
  const int width = shown.pane.minimumSizeHint().width();
  shown.pane.search(QStringLiteral("(conv"));
  CHECK(shown.pane.matchCount() == 0);
  CHECK(shown.pane.searchLine()->toolTip().contains(QStringLiteral("not an expression")));
  CHECK(shown.pane.minimumSizeHint().width() <= width + 60);
  QTest::keyClick(shown.pane.searchLine(), Qt::Key_Escape);
  CHECK(shown.pane.searchLine()->text().isEmpty());
}

/// Groups of a large network, closed: what the pane shows of 10 000 operators.
PicturePtr large_picture(int nodes, double& seconds) {
  LayoutInput input = random_graph(nodes, 5);
  for (LayoutNode& node : input.nodes) node = {150, 54};
  GraphSketch sketch;
  sketch.input = input;
  for (int i = 0; i < nodes; ++i) {
    GraphNode node;
    node.step = StepId(at(i));
    node.subject = op_subject(node.step, OpId(at(i)));
    node.lines = {QStringLiteral("Conv"), QStringLiteral("layer%1_conv").arg(i), QStringLiteral("1 × 64 × 56 × 56")};
    sketch.picture.nodes.push_back(node);
    sketch.node_of.push_back(i);
  }
  std::set<std::pair<int, int>> bundles;
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    GraphEdge edge;
    edge.from = input.edges[e].from;
    edge.to = input.edges[e].to;
    edge.name = QStringLiteral("tensor%1").arg(e);
    edge.bytes = QStringLiteral("784.00 KiB");
    edge.labelled = bundles.insert({edge.from, input.edges[e].bundle}).second;
    sketch.picture.edges.push_back(edge);
    sketch.edge_of.push_back(static_cast<int>(e));
  }
  QElapsedTimer timer;
  timer.start();
  const auto layout = beside([&] { return layered_layout(input); });
  seconds = static_cast<double>(timer.elapsed()) / 1000;
  return finish_picture(sketch, *layout, false);
}

/// Not part of the tests' run: test_inspector "[benchmark]".
TEST_CASE("frames of a graph of 10 000 operators", "[.][benchmark]") {
  double seconds = 0;
  const PicturePtr picture = large_picture(10000, seconds);
  std::printf("layered layout of 10 000 nodes, %zu edges: %.0f ms\n", picture->edges.size(), seconds * 1000);
  const Look look;
  GraphView view(look);
  view.resize(1280, 800);
  view.setPicture(picture, false);
  view.setColours(IdVector<StepId, NodeColour>(10000, NodeColour{QColor(Qt::lightGray)}));
  QImage screen(1280, 800, QImage::Format_RGB32);
  const auto measure = [&](const char* what, auto&& move) {
    std::vector<double> frames;
    for (int i = 0; i < 200; ++i) {
      move(i);
      QElapsedTimer timer;
      timer.start();
      view.render(&screen);
      frames.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    std::sort(frames.begin(), frames.end());
    std::printf("%-24s median %5.1f ms, 95 %% %5.1f ms, worst %5.1f ms\n", what, frames[100], frames[190], frames[199]);
  };
  view.fit();
  const double fitted = view.scale();
  measure("fitted", [](int) {});
  measure("fitted, panning", [&](int i) { view.panBy({i % 2 == 0 ? 5.0 : -5.0, 3}); });
  measure("zooming to 100 %", [&](int i) { view.zoomBy(i == 0 ? 1.0 : std::pow(1 / fitted, 1.0 / 200), {640, 400}); });
  view.setActualSize();
  measure("100 %, panning", [&](int) { view.panBy({0, -37}); });
}

TEST_CASE("the whole of a long network is to be seen", "[inspector]") {
  constexpr int nodes = 4000;
  GraphSketch sketch;
  for (int i = 0; i < nodes; ++i) {
    sketch.input.nodes.push_back({150, 54});
    if (i > 0) sketch.input.edges.push_back({i - 1, i, i});
    GraphNode node;
    node.step = StepId(at(i));
    sketch.picture.nodes.push_back(node);
    sketch.node_of.push_back(i);
  }
  for (int i = 1; i < nodes; ++i) {
    GraphEdge edge;
    edge.from = i - 1;
    edge.to = i;
    sketch.picture.edges.push_back(edge);
    sketch.edge_of.push_back(i - 1);
  }
  const auto layout = beside([&] { return layered_layout(sketch.input); });
  REQUIRE(layout);
  Look look;
  for (const bool dark : {false, true}) {
    look.setDark(dark);
    GraphView view(look);
    view.resize(500, 400);
    view.setPicture(finish_picture(sketch, *layout, false), false);
    view.setColours(IdVector<StepId, NodeColour>(nodes, NodeColour{look.theme().category(0)}));
    view.fit();
    QImage screen(500, 400, QImage::Format_RGB32);
    view.render(&screen);
    int rows = 0;
    for (int y = 0; y < screen.height(); ++y) {
      int painted = 0;
      for (int x = 0; x < screen.width(); ++x) painted += screen.pixelColor(x, y) != look.theme().base ? 1 : 0;
      rows += painted >= 5 ? 1 : 0;
    }
    CHECK(rows > 300);
  }
}

TEST_CASE("without anything chosen a network is looked at from its beginning", "[inspector]") {
  ShownGraph shown("lenet");
  shown.pane.resize(420, 260);
  shown.pane.setMode(GraphPane::Mode::both);
  shown.selection.select(network_subject());
  REQUIRE(wait_until([&] { return !shown.pane.busy(); }));
  shown.pane.flush();
  for (const GraphKind kind : {GraphKind::computation, GraphKind::fused}) {
    GraphView& view = shown.pane.view(kind);
    const auto& nodes = view.picture()->nodes;
    const auto first = std::min_element(
        nodes.begin(), nodes.end(), [](const GraphNode& a, const GraphNode& b) { return a.rect.top() < b.rect.top(); });
    const double middle = view.fromPicture(first->rect.center()).x();
    CHECK(middle > 0);
    CHECK(middle < view.width());
  }
}

}  // namespace
}  // namespace stowage::test
