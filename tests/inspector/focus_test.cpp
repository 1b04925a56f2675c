// SPDX-License-Identifier: Apache-2.0
// Which pane has the keyboard, and what of it.
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QListWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTest>
#include <QTimer>
#include <catch2/catch.hpp>

#include "inspector/panes/check_pane.h"
#include "inspector/panes/compare_pane.h"
#include "inspector/panes/cost_pane.h"
#include "inspector/panes/fusion_pane.h"
#include "inspector/panes/graph_pane.h"
#include "inspector/panes/ldm_pane.h"
#include "inspector/panes/loops_pane.h"
#include "inspector/panes/problems_pane.h"
#include "inspector/panes/replay_pane.h"
#include "inspector/panes/sensitivity_pane.h"
#include "inspector/panes/tables_pane.h"
#include "inspector/panes/timeline_pane.h"
#include "inspector/panes/what_if_pane.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

/// The widget that arrow keys are for.
QWidget& main_view(MainWindow& window, const std::string& pane) {
  if (pane == "graph") return pane_of<GraphPane>(window, pane).view(GraphKind::fused);
  if (pane == "fusion") return pane_of<FusionPane>(window, pane).candidates().view();
  if (pane == "loops") return pane_of<LoopsPane>(window, pane).nest();
  if (pane == "ldm") return pane_of<LdmPane>(window, pane).scratchpad();
  if (pane == "timeline") return pane_of<TimelinePane>(window, pane).view();
  if (pane == "cost") return pane_of<CostPane>(window, pane).terms();
  if (pane == "replay") return pane_of<ReplayPane>(window, pane);
  if (pane == "whatif") return pane_of<WhatIfPane>(window, pane).controls().nest();
  if (pane == "compare") return pane_of<ComparePane>(window, pane).changes().view();
  if (pane == "tables") return pane_of<TablesPane>(window, pane).table(0).view();
  if (pane == "sensitivity") return pane_of<SensitivityPane>(window, pane).key();
  if (pane == "check") return pane_of<CheckPane>(window, pane).code();
  if (pane == "problems") return pane_of<ProblemsPane>(window, pane).list();
  FAIL("which is the main view of " << pane << "?");
  return window;
}

struct DockTab {
  QTabBar* bar = nullptr;
  int index = -1;
};

DockTab find_tab(MainWindow& window, const QString& title) {
  for (auto* bar : window.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    for (int i = 0; i < bar->count(); ++i) {
      if (bar->isVisible() && bar->tabText(i) == title) return {bar, i};
    }
  }
  return {};
}

void click_tab(MainWindow& window, const QString& title) {
  const DockTab tab = find_tab(window, title);
  INFO(title.toStdString());
  REQUIRE(tab.bar != nullptr);
  QTest::mouseClick(tab.bar, Qt::LeftButton, {}, tab.bar->tabRect(tab.index).center());
}

void open_arranged(MainWindow& window, const std::string& sample, const char* layout) {
  window.resize(1280, 800);
  open_sample(window, sample);
  REQUIRE(QTest::qWaitForWindowActive(&window));
  window.setLayoutNamed(QString::fromLatin1(layout));
  window.settle();
}

/// Title of the dialog that Ctrl+E opens, which is closed again; empty where it opens none.
QString asked_by_export(MainWindow& window) {
  QString title;
  QTimer watch;
  QObject::connect(&watch, &QTimer::timeout, &watch, [&] {
    if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
      title = dialog->windowTitle();
      dialog->reject();
    }
  });
  watch.start(10);
  QWidget* focus = QApplication::focusWidget();
  QTest::keyClick(focus != nullptr ? focus : &window, Qt::Key_E, Qt::ControlModifier);
  // Without a window manager the window does not become active again by itself.
  window.activateWindow();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  return title;
}

TEST_CASE("choosing a dock tab gives that pane's main view the keyboard, and Ctrl+E exports it", "[inspector]") {
  MainWindow window;
  open_arranged(window, "lenet", "compile");
  window.raisePane("tables");
  for (const auto& [title, pane] : {std::pair("LDM", "ldm"), std::pair("Fusion", "fusion"), std::pair("Cost", "cost"),
                                    std::pair("Replay", "replay"), std::pair("Graph", "graph")}) {
    click_tab(window, QString::fromLatin1(title));
    INFO(title);
    CHECK(wait_until([&] { return QApplication::focusWidget() == &main_view(window, pane); }, 2));
    CHECK(asked_by_export(window) == QStringLiteral("Export ") + QString::fromLatin1(title));
  }
  // A tab that is in front already, and the title of a dock: both mean that pane.
  window.raisePane("tables");
  click_tab(window, QStringLiteral("Replay"));
  CHECK(wait_until([&] { return QApplication::focusWidget() == &main_view(window, "replay"); }, 2));
  auto* tables = window.findChild<QDockWidget*>(QStringLiteral("tables"));
  QTest::mouseClick(tables, Qt::LeftButton, {}, QPoint(40, 8));
  CHECK(wait_until([&] { return QApplication::focusWidget() == &main_view(window, "tables"); }, 2));
}

TEST_CASE("Ctrl+E never exports a pane that is behind another", "[inspector]") {
  MainWindow window;
  open_arranged(window, "lenet", "compile");
  window.raisePane("loops");
  // By the keyboard a tab bar keeps the focus, so that one can go on to the next tab.
  const DockTab loops = find_tab(window, QStringLiteral("Loops"));
  REQUIRE(loops.bar != nullptr);
  loops.bar->setFocus();
  QTest::keyClick(loops.bar, Qt::Key_Right);
  REQUIRE(loops.bar->tabText(loops.bar->currentIndex()) == QStringLiteral("LDM"));
  QCoreApplication::processEvents();
  CHECK(asked_by_export(window) == QStringLiteral("Export LDM"));
  // Nor where the program has put another in front.
  window.raisePane("loops");
  window.findChild<QDockWidget*>(QStringLiteral("cost"))->raise();
  QCoreApplication::processEvents();
  CHECK(asked_by_export(window) == QStringLiteral("Export Cost"));
}

TEST_CASE("Ctrl+F searches in the pane that is chosen, and says where there is nothing to search", "[inspector]") {
  MainWindow window;
  open_arranged(window, "lenet", "compile");
  const auto find_in = [&](const char* title) {
    click_tab(window, QString::fromLatin1(title));
    QCoreApplication::processEvents();
    REQUIRE(QApplication::focusWidget() != nullptr);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_F, Qt::ControlModifier);
    const auto* focus = QApplication::focusWidget();
    return focus == nullptr ? QString() : focus->accessibleName();
  };
  CHECK(find_in("Graph") == QStringLiteral("Find in the graph"));
  CHECK(find_in("Fusion") == QStringLiteral("Filter of the candidates"));
  CHECK(find_in("Tables") == QStringLiteral("Filter of the table"));
  CHECK(find_in("Compare") == QStringLiteral("Filter of the groups"));
  find_in("LDM");
  CHECK(QApplication::focusWidget() == &main_view(window, "ldm"));
  CHECK(window.statusBar()->currentMessage() == QStringLiteral("LDM has nothing to search"));
}

TEST_CASE("after a sample was opened the arrow keys work", "[inspector]") {
  for (const char* layout : {"compile", "memory", "teach"}) {
    INFO(layout);
    MainWindow window;
    window.resize(1280, 800);
    window.setFirstLayout(QString::fromLatin1(layout));
    window.show();
    REQUIRE(QTest::qWaitForWindowActive(&window));
    // From the list of samples, as by Enter in it.
    window.startPage().findChild<QListWidget*>()->setFocus();
    REQUIRE(qobject_cast<QListWidget*>(QApplication::focusWidget()) != nullptr);
    Q_EMIT window.startPage().sampleRequested(sample_folder("lenet"));
    REQUIRE(wait_until([&] { return window.document().plan() != nullptr && !window.document().busy(); }));
    window.settle();
    REQUIRE(QApplication::focusWidget() != nullptr);
    const Subject before = window.selection().subject();
    auto& replay = pane_of<ReplayPane>(window, "replay");
    for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Right}) QTest::keyClick(QApplication::focusWidget(), key);
    CHECK((window.selection().subject() != before || replay.current() > 0));
  }
}

TEST_CASE("the pane that --pane names is in front once something is open, with the keyboard", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  window.setFirstLayout(QStringLiteral("compile"));
  window.setFirstPane(QStringLiteral("timeline"));
  window.show();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  window.open({sample_folder("lenet"), {}});
  REQUIRE(wait_until([&] { return window.document().plan() != nullptr && !window.document().busy(); }));
  window.settle();
  CHECK(!window.pane("timeline")->visibleRegion().isEmpty());
  CHECK(window.pane("loops")->visibleRegion().isEmpty());
  CHECK(window.pane("timeline")->isAncestorOf(QApplication::focusWidget()));
}

TEST_CASE("problems that are put away give the keyboard back", "[inspector]") {
  MainWindow window;
  open_arranged(window, "lenet", "teach");
  window.raisePane("ldm");
  REQUIRE(QApplication::focusWidget() == &main_view(window, "ldm"));
  window.open({QStringLiteral("/nowhere/model.onnx"), {}});
  REQUIRE(wait_until([&] { return !window.document().busy(); }));
  CHECK(QApplication::focusWidget() == &main_view(window, "problems"));
  open_sample(window, "matmul");
  window.settle();
  bool in_sight = false;
  for (const PaneRow& row : pane_table()) {
    const Pane& pane = *window.pane(row.name);
    in_sight = in_sight || (pane.inSight() && QApplication::focusWidget() == &main_view(window, std::string(row.name)));
  }
  CHECK(in_sight);
}

TEST_CASE("Ctrl and a digit gives the keyboard to the pane's main view at once", "[inspector]") {
  MainWindow window;
  open_arranged(window, "lenet", "compile");
  int number = 0;
  for (const PaneRow& row : pane_table()) {
    ++number;
    const std::string name(row.name);
    INFO(name);
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus != nullptr ? focus : &window, static_cast<Qt::Key>(Qt::Key_0 + number % 10),
                    number <= 10 ? Qt::ControlModifier : Qt::AltModifier);
    if (name == "whatif") {
      auto& session = pane_of<WhatIfPane>(window, name).session();
      REQUIRE(wait_until([&] { return session.legal() != nullptr && !session.pending(); }));
    }
    CHECK(QApplication::focusWidget() == &main_view(window, name));
  }
}

}  // namespace
}  // namespace stowage::test
