// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/main_window.h"

#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QScrollBar>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "inspector/panes/fusion_pane.h"
#include "inspector/panes/ldm_pane.h"
#include "inspector/panes/loops_pane.h"
#include "inspector/panes/problems_pane.h"
#include "inspector/panes/tables_pane.h"
#include "inspector/panes/what_if_pane.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("the window starts with its start page and shows the costliest group of what is opened", "[inspector]") {
  MainWindow window;
  window.show();
  CHECK(window.showsStartPage());
  open_sample(window, "lenet");
  CHECK_FALSE(window.showsStartPage());
  const LoadedPlan& plan = *window.document().plan();
  const auto step = window.selection().subject().step;
  REQUIRE(step);
  for (const StepFacts& other : plan.steps) CHECK(other.cycles <= plan.steps[*step].cycles);
  CHECK(window.breadcrumb().text() == QStringLiteral("lenet › ") + qt(plan.steps[*step].step->group.name));
}

TEST_CASE("what is chosen in one pane is followed by all", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  open_sample(window, "matmul");
  for (const PaneRow& row : pane_table()) window.pane(row.name)->flush();
  auto& loops = pane_of<LoopsPane>(window, "loops");
  auto& ldm = pane_of<LdmPane>(window, "ldm");
  auto& tables = pane_of<TablesPane>(window, "tables");
  CHECK(ldm.scratchpad().drawing().marks.size() > 20);
  QTest::mouseClick(loops.nest().viewport(), Qt::LeftButton, {}, loops.nest().pointOf(6));
  CHECK(window.selection().subject().statement == StatementId(6));
  CHECK(window.selection().subject().buffer == BufferId(0));
  CHECK(window.breadcrumb().text() == QStringLiteral("matmul › matmul › for x › for yo › for ko › get A"));
  tables.flush();
  TableView& dma = tables.table(3);
  CHECK(dma.view().currentIndex().row() == 0);
  // And back from the table.
  dma.view().selectRow(2);
  CHECK(window.selection().subject().statement == StatementId(11));
  loops.flush();
  int lit = 0;
  for (const CodeLine& line : loops.source().code().lines) lit += is_lit(line, window.selection().subject()) ? 1 : 0;
  CHECK(lit > 0);
  QTest::keyClick(&window, Qt::Key_Left, Qt::AltModifier);
  CHECK(window.selection().subject().statement == StatementId(6));
}

TEST_CASE("the way through a network is walked back and forth, and the breadcrumb leads up", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  open_sample(window, "lenet");
  Selection& selection = window.selection();
  auto& fusion = pane_of<FusionPane>(window, "fusion");
  auto& tables = pane_of<TablesPane>(window, "tables");
  const auto flush_all = [&] {
    for (const PaneRow& row : pane_table()) window.pane(row.name)->flush();
    REQUIRE(wait_until([&] { return !fusion.busy(); }));
  };
  window.raisePane("fusion");
  REQUIRE(wait_until([&] { return fusion.candidates().model().rowCount() > 0; }));
  flush_all();
  // A group in the table of groups: the candidates show its row.
  tables.table(0).view().selectRow(1);
  flush_all();
  const Subject group = selection.subject();
  CHECK(group == step_subject(StepId(1)));
  const auto shown_candidate = [&] {
    const QModelIndex row = fusion.candidates().filter().mapToSource(fusion.candidates().view().currentIndex());
    REQUIRE(row.isValid());
    return fusion.candidates().model().table()->rows[static_cast<std::size_t>(row.row())].subject;
  };
  CHECK(shown_candidate() == group);
  // An operator that was outbid, in the table of candidates: everybody goes to it.
  const auto& rows = fusion.candidates().model().table()->rows;
  const auto outbid = std::find_if(rows.begin(), rows.end(),
                                   [](const Row& row) { return row.subject.op && row.subject.step != StepId(1); });
  REQUIRE(outbid != rows.end());
  const Subject op = outbid->subject;
  const QModelIndex source = fusion.candidates().model().index(static_cast<int>(outbid - rows.begin()), 0);
  fusion.candidates().view().selectRow(fusion.candidates().filter().mapFromSource(source).row());
  flush_all();
  CHECK(selection.subject() == op);
  CHECK(shown_candidate() == op);  // the row that was chosen stays
  CHECK(tables.table(0).view().currentIndex().row() == static_cast<int>(op.step.value().index()));
  QTest::keyClick(&window, Qt::Key_Left, Qt::AltModifier);
  flush_all();
  CHECK(selection.subject() == group);
  CHECK(shown_candidate() == group);
  QTest::keyClick(&window, Qt::Key_Right, Qt::AltModifier);
  flush_all();
  CHECK(selection.subject() == op);
  CHECK_FALSE(selection.canGoForward());
  CHECK(window.breadcrumb().text().startsWith(QStringLiteral("lenet › ")));
  QTest::keyClick(&window, Qt::Key_Up, Qt::AltModifier);
  CHECK(selection.subject() == step_subject(op.step));
  QTest::keyClick(&window, Qt::Key_Up, Qt::AltModifier);
  CHECK(selection.subject() == network_subject());
  CHECK(window.breadcrumb().text() == QStringLiteral("lenet"));
  flush_all();
}

TEST_CASE("every layout shows its panes", "[inspector]") {
  MainWindow window;
  open_sample(window, "matmul");
  for (const QString& name : inspector::layout_names()) {
    window.setLayoutNamed(name);
    QCoreApplication::processEvents();
    int shown = 0;
    for (const auto* dock : window.findChildren<QDockWidget*>()) shown += dock->isHidden() ? 0 : 1;
    INFO(name.toStdString());
    CHECK(shown >= 2);
  }
}

TEST_CASE("the window survives changes of theme, units and text size with a plan open", "[inspector]") {
  MainWindow window;
  open_sample(window, "lenet");
  window.look().setDark(true);
  window.look().setUnits({TimeUnit::seconds, ByteUnit::exact});
  window.look().setPointSize(14);
  for (const PaneRow& row : pane_table()) window.pane(row.name)->flush();
  QCoreApplication::processEvents();
  CHECK_FALSE(window.grab().isNull());
  window.look().setDark(false);
  window.look().setUnits({});
  window.look().setPointSize(10);
}

TEST_CASE("a model that cannot be read lands in the problems pane", "[inspector]") {
  MainWindow window;
  window.show();
  window.open({QStringLiteral("/nowhere/model.onnx"), {}});
  REQUIRE(wait_until([&] { return !window.document().busy(); }));
  auto& problems = pane_of<ProblemsPane>(window, "problems");
  problems.flush();
  REQUIRE(problems.list().topLevelItemCount() == 1);
  CHECK(problems.details().contains(QStringLiteral("/nowhere/model.onnx")));
  CHECK(problems.isVisible());
}

TEST_CASE("plans that cannot be read are said to be so in the window", "[inspector]") {
  const QTemporaryDir temporary;
  const QDir folder(temporary.filePath(QStringLiteral("copy")));
  std::filesystem::copy(sample_folder("matmul").toStdString(), folder.path().toStdString(),
                        std::filesystem::copy_options::recursive);
  QFile whole(sample_folder("matmul") + QStringLiteral("/plan.json"));
  REQUIRE(whole.open(QIODevice::ReadOnly));
  const QByteArray plan = whole.readAll();
  const auto sentence_of = [&](const QByteArray& text) {
    QFile file(folder.filePath(QStringLiteral("plan.json")));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    MainWindow window;
    window.show();
    window.open({folder.path(), {}});
    REQUIRE(wait_until([&] { return !window.document().busy(); }));
    auto& problems = pane_of<ProblemsPane>(window, "problems");
    problems.flush();
    REQUIRE(problems.list().topLevelItemCount() > 0);
    CHECK(window.statusBar()->currentMessage() == problems.list().topLevelItem(0)->text(2));
    return problems.list().topLevelItem(0)->text(2);
  };
  QByteArray newer = plan;
  newer.replace("\"version\": 2,", "\"version\": 99,");
  REQUIRE(newer != plan);
  CHECK(sentence_of(newer).contains(QStringLiteral("its version is 99, this tool reads versions 1 to 2")));
  CHECK_FALSE(sentence_of(plan.left(plan.size() / 2)).isEmpty());
  CHECK_FALSE(sentence_of("").isEmpty());
  CHECK_FALSE(sentence_of(QByteArray(1000, '\xff')).isEmpty());
  QByteArray damaged = plan;
  damaged.replace("\"version\": 2,", "\"version\": \"one\",");
  CHECK_FALSE(sentence_of(damaged).isEmpty());
}

TEST_CASE("problems name the operator that they are about", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  Diagnostic diagnostic;
  diagnostic.location.object = "node conv2 (Conv)";
  const Subject subject = subject_of(*plan, diagnostic);
  REQUIRE(subject.op);
  CHECK(plan->graph().op(*subject.op).name == "conv2");
  diagnostic.location.object = "something else";
  CHECK(subject_of(*plan, diagnostic) == Subject{});
}

TEST_CASE("F1 opens the help page at the pane that has the keyboard", "[inspector]") {
  MainWindow window;
  open_sample(window, "lenet");
  window.raisePane("ldm");
  QTest::keyClick(&window, Qt::Key_F1);
  REQUIRE(window.help() != nullptr);
  CHECK(window.help()->isVisible());
  const QString text = window.help()->page().toPlainText();
  for (const PaneRow& row : pane_table()) {
    CHECK(text.contains(QString::fromUtf8(row.summary.data(), static_cast<qsizetype>(row.summary.size()))));
  }
  CHECK(text.contains(QStringLiteral("Ctrl+E")));
  CHECK(text.contains(QStringLiteral("local device memory")));
  QTest::keyClick(window.help(), Qt::Key_Escape);
  CHECK_FALSE(window.help()->isVisible());
}

TEST_CASE("closing during work leaves nothing behind", "[inspector]") {
  auto window = std::make_unique<MainWindow>();
  window->show();
  window->open({sample_folder("lenet"), {}});
  window->close();
  window.reset();
  CHECK_FALSE(wait_until([] { return false; }, 0.05));
}

QStringList shown_docks(const MainWindow& window) {
  QStringList names;
  for (const auto* dock : window.findChildren<QDockWidget*>()) {
    if (!dock->isHidden()) names.push_back(dock->objectName());
  }
  names.sort();
  return names;
}

TEST_CASE("in the arrangement for memory the whole LDM map is seen at 1280 x 800", "[inspector]") {
  for (const char* name : {"matmul", "lenet"}) {
    MainWindow window;
    window.resize(1280, 800);
    open_sample(window, name);
    window.setLayoutNamed(QStringLiteral("memory"));
    auto& ldm = pane_of<LdmPane>(window, "ldm");
    for (const StepId step : window.document().plan()->steps.ids()) {
      window.selection().select(step_subject(step));
      for (int round = 0; round < 8; ++round) QCoreApplication::processEvents();
      ldm.flush();
      INFO(name << " step " << step.index());
      CHECK(ldm.scratchpad().drawing().marks.size() > 10);
      CHECK(ldm.scratchpad().verticalScrollBar()->maximum() == 0);
      CHECK(ldm.lower().height() > 80);
    }
  }
}

TEST_CASE("the window comes back with the panes with which it was left", "[inspector]") {
  QStringList left;
  {
    MainWindow window;
    open_sample(window, "matmul");
    window.setLayoutNamed(QStringLiteral("memory"));
    window.setLayoutNamed(QStringLiteral("teach"));
    window.setLayoutNamed(QStringLiteral("memory"));
    QCoreApplication::processEvents();
    left = shown_docks(window);
    CHECK(left == QStringList{QStringLiteral("ldm"), QStringLiteral("loops"), QStringLiteral("problems"),
                              QStringLiteral("tables")});
    window.close();
  }
  MainWindow window;
  open_sample(window, "matmul");
  QCoreApplication::processEvents();
  CHECK(shown_docks(window) == left);
  // A pane that was not there comes up as a tab of what is, not as a column of its own.
  window.raisePane("replay");
  QCoreApplication::processEvents();
  CHECK_FALSE(window.tabifiedDockWidgets(window.findChild<QDockWidget*>(QStringLiteral("replay"))).isEmpty());
  window.setLayoutNamed(QStringLiteral("compile"));
  window.close();
}

TEST_CASE("every text has the window's font from the start, not only once the theme was changed", "[inspector]") {
  // As a process begins. This one has had the look of other tests.
  qobject_cast<QApplication*>(QCoreApplication::instance())->setStyleSheet({});
  QApplication::setFont(QFont(QStringLiteral("DejaVu Serif"), 7));
  MainWindow window;
  open_sample(window, "matmul");
  int looked_at = 0;
  for (const auto* widget : window.findChildren<QWidget*>()) {
    INFO(widget->metaObject()->className());
    CHECK(widget->font().family().toStdString() != "DejaVu Serif");
    CHECK(widget->font().pointSizeF() > 7);
    ++looked_at;
  }
  CHECK(looked_at > 100);
}

TEST_CASE("a failed opening does not change the arrangement that is kept", "[inspector]") {
  const auto front = [](MainWindow& window) { return !window.pane("tables")->visibleRegion().isEmpty(); };
  {
    MainWindow window;
    open_sample(window, "matmul");
    window.setLayoutNamed(QStringLiteral("compile"));
    QCoreApplication::processEvents();
    REQUIRE(front(window));
    window.open({QStringLiteral("/nowhere/model.onnx"), {}});
    REQUIRE(wait_until([&] { return !window.document().busy(); }));
    CHECK_FALSE(front(window));
    window.close();
  }
  MainWindow window;
  open_sample(window, "matmul");
  QCoreApplication::processEvents();
  CHECK(front(window));
}

TEST_CASE("panes that are behind the edits are marked so, and the title names what is shown", "[inspector]") {
  MainWindow window;
  open_sample(window, "matmul");
  auto& pane = pane_of<WhatIfPane>(window, "whatif");
  pane.flush();
  REQUIRE(wait_until([&] { return pane.session().legal() != nullptr && !pane.session().pending(); }));
  const auto title = [&](const char* name) {
    return window.findChild<QDockWidget*>(QString::fromLatin1(name))->windowTitle();
  };
  const QString loops = title("loops");
  const QString whatif = title("whatif");
  Schedule schedule;
  schedule.buffer["y"] = 64;
  pane.session().fix(schedule, QStringLiteral("buffer y"));
  CHECK(title("loops").contains(QStringLiteral("stale")));
  CHECK(title("whatif") == whatif);
  pane.session().planNetwork();
  REQUIRE(wait_until([&] { return !pane.session().planning() && !window.document().stale(); }));
  CHECK(title("loops") == loops);
  CHECK(window.windowTitle().contains(QStringLiteral("what-if 1")));
  pane.session().history().undo();
  CHECK(title("cost").contains(QStringLiteral("stale")));
  REQUIRE(wait_until([&] { return !pane.session().pending(); }));
}

TEST_CASE("an operator in a group of its own name is told from it", "[inspector]") {
  MainWindow window;
  open_sample(window, "lenet");
  const LoadedPlan& plan = *window.document().plan();
  std::optional<OpId> found;
  for (const OpId i : plan.step_of_operator.ids()) {
    const StepFacts& step = plan.steps[plan.step_of_operator[i]];
    if (!found && step.step->group.name == plan.graph().op(i).name) found = i;
  }
  REQUIRE(found);
  window.selection().select(op_subject(plan.step_of_operator[*found], *found));
  const QStringList crumbs = window.breadcrumb().text().split(QStringLiteral(" › "));
  REQUIRE(crumbs.size() == 3);
  CHECK(crumbs[2] != crumbs[1]);
  CHECK(crumbs[2].endsWith(crumbs[1]));
}

TEST_CASE("until its turn comes a pane is asked about the plan that it shows, not about one that it has not seen",
          "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  open_sample(window, "lenet");
  window.raisePane("fusion");
  auto& fusion = pane_of<FusionPane>(window, "fusion");
  auto& rows = *fusion.candidates().view().model();
  REQUIRE(wait_until([&] { return rows.rowCount() > 1 && !fusion.busy(); }));
  const bool strategy = GENERATE(false, true);
  CAPTURE(strategy);
  if (strategy) fusion.setTab(FusionPane::path_tab);
  bool between = false;
  // This plan has fewer candidates, groups and operators; what comes here comes before any pane has seen it.
  window.document().show(sample_plan("matmul"));
  QTimer::singleShot(0, &window, [&] {
    between = rows.rowCount() > 1;
    if (strategy) {
      window.resize(1500, 900);
      fusion.path().rebuild();
    } else {
      fusion.candidates().view().setCurrentIndex(rows.index(rows.rowCount() - 1, 0));
    }
  });
  REQUIRE(wait_until([&] { return rows.rowCount() == 1 && !fusion.busy(); }));
  CHECK(between);
  CHECK(fusion.answer().isEmpty());
}

TEST_CASE("a window that is at rest has everything in sight worked out", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  open_sample(window, "lenet");
  window.setLayoutNamed(QStringLiteral("teach"));
  window.raisePane("whatif");
  window.settle();
  auto& whatif = pane_of<WhatIfPane>(window, "whatif");
  CHECK_FALSE(whatif.busy());
  CHECK(whatif.session().legal() != nullptr);
  CHECK(whatif.session().choices() != nullptr);
  const QImage once = window.grab().toImage();
  REQUIRE_FALSE(wait_until([] { return false; }, 0.5));
  CHECK(window.grab().toImage() == once);
}

TEST_CASE("panes behind others do nothing until they come in front", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  window.document().show(sample_plan("lenet"));
  auto& fusion = pane_of<FusionPane>(window, "fusion");
  auto& tables = pane_of<TablesPane>(window, "tables");
  window.raisePane("tables");
  REQUIRE(wait_until([&] { return tables.table(0).model().rowCount() > 0; }));
  REQUIRE_FALSE(wait_until([&] { return fusion.candidates().model().rowCount() > 0; }, 0.3));
  window.raisePane("fusion");
  CHECK(wait_until([&] { return fusion.candidates().model().rowCount() > 0; }));
}

}  // namespace
}  // namespace stowage::test
