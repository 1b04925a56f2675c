// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QImage>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <thread>

#include "inspector/graph/dot_layout.h"
#include "inspector/graph/fold_layout.h"
#include "inspector/panes/graph_pane.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// A random acyclic graph: most edges short, some long.
LayoutInput random_graph(int nodes, unsigned seed) {
  std::mt19937 random(seed);
  LayoutInput input;
  for (int i = 0; i < nodes; ++i) {
    input.nodes.push_back({40.0 + static_cast<double>(random() % 120), 20.0 + static_cast<double>(random() % 60)});
    if (i == 0) continue;
    for (unsigned k = 0; k < 1 + random() % 2; ++k) {
      const int back = 1 + static_cast<int>(random() % (random() % 50 == 0 ? 40 : 3));
      const int from = std::max(0, i - back);
      input.edges.push_back({from, i, from, -1, -1, 60, 24});
    }
  }
  return input;
}

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
    const int node = computation->find(op_subject(std::nullopt, static_cast<int>(i)));
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
    if (node.around < 0) continue;
    CHECK(open->nodes[at(node.around)].rect.contains(node.rect));
    CHECK(open->nodes[at(node.around)].step == node.step);
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
  CHECK(shown.selection.subject().op < 0);

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
  const int op = static_cast<int>(shown.document.plan()->steps[*group].step->group.operators.back().index());
  const int node = computation.picture()->find(op_subject(std::nullopt, op));
  QTest::mouseClick(&computation, Qt::LeftButton, {},
                    computation.fromPicture(computation.picture()->nodes[at(node)].rect.center()).toPoint());
  CHECK(shown.selection.subject() == op_subject(group, op));
  CHECK(fused.picture()->nodes[at(fused.picture()->find(shown.selection.subject()))].step == group);
}

TEST_CASE("a search finds by regular expression, forwards and backwards, and says what is wrong", "[inspector]") {
  ShownGraph shown("lenet");
  std::vector<int> wanted;
  const auto operators = shown.document.plan()->graph().operators();
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].kind == "Gemm" || operators[i].kind == "Conv") wanted.push_back(static_cast<int>(i));
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
    node.subject = op_subject(node.step, i);
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
