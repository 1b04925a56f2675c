// SPDX-License-Identifier: Apache-2.0
// That everything has its room: on a small screen, with large text, and while lists are filled.
#include <QDockWidget>
#include <QHeaderView>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QStatusBar>
#include <QTest>
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "inspector/panes/compare_pane.h"
#include "inspector/panes/graph_pane.h"
#include "inspector/panes/problems_pane.h"
#include "inspector/panes/tables_pane.h"
#include "inspector/panes/what_if_pane.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("the window fits a screen of 1280 x 720 in every arrangement, with every pane in front", "[inspector]") {
  // Less what a window manager puts around it, and what a desktop keeps for its bar.
  constexpr QSize room(1180, 640);
  for (const QString& layout : inspector::layout_names()) {
    MainWindow window;
    window.resize(1280, 720);
    window.show();
    window.document().show(sample_plan("lenet"));
    window.document().showBaseline(sample_plan("matmul"));
    window.setLayoutNamed(layout);
    for (const double points : {16.0, 10.0}) {
      window.look().setPointSize(points);
      for (const PaneRow& row : pane_table()) {
        window.raisePane(row.name);
        window.settle();
        const QSize least = window.minimumSizeHint();
        INFO(layout.toStdString() << ", " << row.name << ", " << points << " points: " << least.width() << " x "
                                  << least.height());
        CHECK(least.width() <= room.width());
        CHECK(least.height() <= room.height());
        window.resize(room);
        QCoreApplication::processEvents();
        CHECK((window.size() == room));
        CHECK(window.rect().contains(window.statusBar()->geometry()));
      }
    }
  }
}

TEST_CASE("at 1280 x 720 no pane needs to be scrolled as a whole", "[inspector]") {
  for (const QString& layout : inspector::layout_names()) {
    MainWindow window;
    window.look().setPointSize(10);
    window.resize(1264, 672);
    window.show();
    window.document().show(sample_plan("lenet"));
    window.setLayoutNamed(layout);
    for (const PaneRow& row : pane_table()) {
      window.raisePane(row.name);
      window.settle();
      const Pane& pane = *window.pane(row.name);
      const QWidget& seen = *pane.parentWidget();
      INFO(layout.toStdString() << ", " << row.name << ": " << pane.width() << " x " << pane.height() << " in "
                                << seen.width() << " x " << seen.height());
      CHECK(pane.height() <= seen.height());
      // The other arrangements have narrower columns, where a row of buttons scrolls.
      if (layout == QStringLiteral("compile")) CHECK(pane.width() <= seen.width());
    }
  }
}

TEST_CASE("a new window is not larger than its screen", "[inspector]") {
  MainWindow window;
  window.show();
  const QSize screen = window.screen()->availableSize();
  REQUIRE(screen.width() < 1280);  // what the test is about
  CHECK(window.width() <= screen.width());
  CHECK(window.frameGeometry().height() <= screen.height());
}

TEST_CASE("columns and rows of tables are as large as their text, whatever its size", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  open_sample(window, "lenet");
  window.raisePane("tables");
  window.settle();
  auto& tables = pane_of<TablesPane>(window, "tables");
  std::vector<int> before;
  for (const double points : {9.0, 12.0, 20.0, 10.0}) {
    window.look().setPointSize(points);
    window.settle();
    std::vector<int> widths;
    for (int index = 0; index < tables.count(); ++index) {
      QTableView& view = tables.table(index).view();
      const int maximum = 46 * view.fontMetrics().averageCharWidth();
      CHECK(view.verticalHeader()->defaultSectionSize() >= view.fontMetrics().height());
      CHECK(tables.table(index).totals().height() >= view.fontMetrics().height());
      for (int column = 0; column < view.model()->columnCount(); ++column) {
        if (view.isColumnHidden(column)) continue;
        const int text = std::max(static_cast<QAbstractItemView&>(view).sizeHintForColumn(column),
                                  view.horizontalHeader()->sectionSizeHint(column));
        INFO(points << " points, table " << index << ", column " << column << ": " << text << ", at most " << maximum);
        CHECK(view.columnWidth(column) >= std::min(text, maximum));
        widths.push_back(view.columnWidth(column));
      }
    }
    if (points > 10 && !before.empty()) {
      CHECK(std::accumulate(widths.begin(), widths.end(), 0) > std::accumulate(before.begin(), before.end(), 0));
    }
    before = widths;
  }
}

TEST_CASE("the map of the graph hides nothing of it, least of all the network's output", "[inspector]") {
  Look look;
  // A wide network and a high one, each with its output at the lower right, where the map stands.
  for (const QSizeF size : {QSizeF(3000, 900), QSizeF(900, 3000)}) {
    auto picture = std::make_shared<GraphPicture>();
    picture->bounds = QRectF(QPointF(0, 0), size);
    GraphNode node;
    for (const double along : {0.0, 0.5, 1.0}) {
      node.rect = QRectF(along * (size.width() - 120), along * (size.height() - 50), 120, 50);
      node.kind = along == 1 ? GraphNode::Kind::end : GraphNode::Kind::op;
      picture->nodes.push_back(node);
    }
    GraphView view(look);
    view.resize(600, 400);
    view.show();
    view.setPicture(picture, false);
    view.setActualSize();
    const QRectF map = view.minimapRect();
    REQUIRE_FALSE(map.isEmpty());
    REQUIRE(QRectF(view.rect()).contains(map));
    for (std::size_t i = 0; i < picture->nodes.size(); ++i) {
      view.reveal(static_cast<int>(i));
      const QRectF shown(view.fromPicture(picture->nodes[i].rect.topLeft()), picture->nodes[i].rect.size());
      INFO(size.width() << " x " << size.height() << ", node " << i);
      CHECK(QRectF(view.rect()).contains(shown));
      CHECK_FALSE(map.intersects(shown));
      CHECK(view.nodeAt(shown.center()) == static_cast<int>(i));
    }
    // As far as it goes by hand.
    view.panBy({-1e6, -1e6});
    const QRectF& output = picture->nodes.back().rect;
    CHECK_FALSE(map.intersects(QRectF(view.fromPicture(output.topLeft()), output.size())));
    // Around the map is its own ground, not more of the picture.
    const QImage image = view.grab().toImage();
    const QPoint corner(view.width() - 2, view.height() - 2);
    CHECK(image.pixelColor(corner * image.devicePixelRatio()) == look.theme().window);
  }
}

TEST_CASE("the form of what-if stays where it is while its lists are filled", "[inspector]") {
  OpenPane<WhatIfPane> opened;
  WhatIfPane& pane = opened.pane;
  const PlanPtr plan = sample_plan("lenet");
  const auto ip1 = plan->graph().find_operator("ip1");
  REQUIRE(ip1);
  opened.open(plan, step_subject(plan->step_of_operator[*ip1]));
  opened.show(1000, 600);
  WhatIfSession& session = pane.session();
  GroupsList& groups = pane.controls().groups();
  REQUIRE(wait_until([&] { return session.legal() != nullptr && !session.pending(); }));
  for (int round = 0; round < 4; ++round) QCoreApplication::processEvents();
  QScrollArea* form = nullptr;
  for (auto* area : pane.findChildren<QScrollArea*>()) {
    if (area->widget() == &pane.controls()) form = area;
  }
  REQUIRE(form != nullptr);
  form->verticalScrollBar()->setValue(40);
  // From the top of the window to the last number of the form.
  const auto subject = [&] { return pane.controls().ldmBytes().mapTo(&pane, QPoint(0, 0)).y(); };
  const int before = subject();
  std::set<int> rows;
  const auto at_rest = [&] {
    return wait_until([&] {
      rows.insert(groups.topLevelItemCount());
      CHECK(subject() == before);
      return session.choices() != nullptr && !session.pricing() && !session.pending();
    });
  };
  REQUIRE(at_rest());
  // Grouped otherwise there is one way more, as planned; and one line more while prices are asked for.
  const int apart = groups.rowOf(QStringLiteral("ip1 | relu1"));
  REQUIRE(apart >= 0);
  groups.take(apart);
  REQUIRE(at_rest());
  REQUIRE(groups.topLevelItemCount() > 0);
  groups.setCurrentItem(groups.topLevelItem(groups.topLevelItemCount() - 1));
  const QString chosen = groups.currentItem()->text(1);
  session.setTarget("dma.startup_cycles", "400", QStringLiteral("start-up"));
  pane.flush();
  session.priceGroups();
  REQUIRE(at_rest());
  REQUIRE(groups.currentItem() != nullptr);
  CHECK(groups.currentItem()->text(1) == chosen);
  // A buffer as large as its iterator has no loop, a smaller one has: a row in the nest.
  const auto& iterators = session.legal()->controls.iterators;
  const auto larger =
      std::find_if(iterators.begin(), iterators.end(), [](const IteratorControl& c) { return c.range > 3; });
  REQUIRE(larger != iterators.end());
  const int loops = pane.controls().nest().count();
  const std::int64_t other = larger->loop.empty() ? larger->range / 3 : larger->range;
  pane.controls().bufferBox(larger->name)->setValue(static_cast<int>(other));
  REQUIRE(at_rest());
  CHECK(pane.controls().nest().count() != loops);
  CHECK(rows.size() > 1);  // the list did change
  CHECK(form->verticalScrollBar()->value() == 40);
}

}  // namespace
}  // namespace stowage::test
