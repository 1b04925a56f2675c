// SPDX-License-Identifier: Apache-2.0
// No session, layout or file work runs on the window's thread: every entry refuses it there, files are touched in a few
// sources only, and a window in use never meets a refusal.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>

#include "core/check.h"
#include "inspector/fusion/strategy_comparison.h"
#include "inspector/fusion/why_not_question.h"
#include "inspector/graph/dot_layout.h"
#include "inspector/graph/plan_graph.h"
#include "inspector/panes/graph_pane.h"
#include "inspector/panes/tables_pane.h"
#include "inspector/panes/what_if_pane.h"
#include "inspector/sensitivity/asked_curve.h"
#include "inspector/state/comparison.h"
#include "inspector/state/files.h"
#include "inspector/state/load.h"
#include "inspector/window/main_window.h"
#include "tests/inspector/window_fixture.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("every entry to session, layout and file work refuses the window's thread", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  Diagnostics diagnostics;
  CHECK_THROWS_AS(load("x.onnx", "", {}, {}), InternalError);
  CHECK_THROWS_AS(evaluate(*plan, StepId(0), {}), InternalError);
  CHECK_THROWS_AS(plan_network(plan, {}, diagnostics, {}, {}), InternalError);
  CHECK_THROWS_AS(price_groups(plan, {}), InternalError);
  CHECK_THROWS_AS(complete_edit(plan, {}), InternalError);
  CHECK_THROWS_AS(regroupings(*beside([&] { return price_groups(plan, {}); }), {}, OpId(0)), InternalError);
  CHECK_THROWS_AS(compare_plans(plan, plan), InternalError);
  CHECK_THROWS_AS(compare_strategies(*plan, {}, {}), InternalError);
  CHECK_THROWS_AS(WhyNotQuestion(plan), InternalError);
  CHECK_THROWS_AS(ask_curve(*plan, "target.ldm.bytes", {"1", "2", "", "2"}, {}, {}), InternalError);
  CHECK_THROWS_AS(sketch_graph(*plan, {}), InternalError);
  CHECK_THROWS_AS(kept_dot_layout({}, {}), InternalError);
  CHECK_THROWS_AS(dot_layout({}, {}, diagnostics), InternalError);
  CHECK_THROWS_AS(write_file(QStringLiteral("x"), {}), InternalError);
  CHECK_THROWS_AS(is_file(QStringLiteral("x")), InternalError);
  CHECK_THROWS_AS(is_folder(QStringLiteral("x")), InternalError);
  CHECK_THROWS_AS(make_folder(QStringLiteral("x")), InternalError);
  CHECK_FALSE(QFile::exists(QStringLiteral("x")));
  CHECK(beside([] { return !on_window_thread(); }));
}

TEST_CASE("files are touched and sessions called where the thread is asked first", "[inspector]") {
  // A new place belongs into state/files, or asks off_window_thread() and joins this list.
  const QString root = QString::fromStdString((test::source_folder() / "inspector").string());
  const std::map<QString, std::set<QString>> subjects = {
      {QStringLiteral("\\b(QFile|QSaveFile|QTemporaryFile)\\b|\\bQDir\\(|::exists\\(|\\.isFile\\(|\\.isDir\\(|\\bfs::|"
                      "fstream|write_file_whole|read_text_file"),
       {QStringLiteral("state/files.cpp"), QStringLiteral("state/load.cpp"), QStringLiteral("graph/dot_layout.cpp"),
        QStringLiteral("whatif/job_form.cpp"), QStringLiteral("state/checked_file.cpp")}},
      {QStringLiteral("\\bQSettings\\b"), {QStringLiteral("window/settings.cpp"), QStringLiteral("application.cpp")}},
      {QStringLiteral(
           "\\b(plan_group|plan_group_of|plan_again|find_candidate_groups|compile|read_compilation|diff_compilations|"
           "why_not|plan_program|program_on|sensitivity|read_model_again)\\("),
       {QStringLiteral("whatif/evaluate.cpp"), QStringLiteral("whatif/regroup.cpp"), QStringLiteral("state/load.cpp"),
        QStringLiteral("fusion/strategy_comparison.cpp"), QStringLiteral("fusion/why_not_question.cpp"),
        QStringLiteral("state/comparison.cpp"), QStringLiteral("state/planned_group.cpp"),
        QStringLiteral("state/planned_group.h"), QStringLiteral("replay/replay.cpp"),
        QStringLiteral("sensitivity/asked_curve.cpp")}},
  };
  int read = 0;
  QDirIterator sources(root, {QStringLiteral("*.cpp"), QStringLiteral("*.h")}, QDir::Files,
                       QDirIterator::Subdirectories);
  while (sources.hasNext()) {
    QFile file(sources.next());
    REQUIRE(file.open(QIODevice::ReadOnly));
    ++read;
    const QString name = QDir(root).relativeFilePath(file.fileName());
    QString text = QString::fromUtf8(file.readAll());
    text.remove(QRegularExpression(QStringLiteral("//[^\n]*")));
    for (const auto& [words, allowed] : subjects) {
      const auto found = QRegularExpression(words).match(text);
      if (!found.hasMatch() || allowed.contains(name)) continue;
      FAIL_CHECK(name.toStdString() << " has " << found.captured().toStdString());
    }
  }
  CHECK(read > 100);
}

TEST_CASE("a window in use does its work beside its thread", "[inspector]") {
  // Whatever did not would end this test by an InternalError out of a slot.
  const QTemporaryDir folder;
  auto window = std::make_unique<MainWindow>();
  window->resize(1280, 800);
  window->show();
  REQUIRE(wait_until([&] { return window->startPage().samples().count() > 0 || !window->document().busy(); }));
  window->open({sample_folder("lenet"), {}}, {sample_folder("lenet"), {}});
  REQUIRE(wait_until([&] { return window->document().plan() != nullptr && !window->document().busy(); }));
  for (const PaneRow& row : pane_table()) {
    window->raisePane(row.name);
    window->selection().select(step_subject(StepId(2)));
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
    const QString path = folder.filePath(QString::fromUtf8(row.name.data(), static_cast<qsizetype>(row.name.size())));
    window->exportPane(*window->pane(row.name), path + QStringLiteral(".png"));
    REQUIRE(wait_until([&] { return !window->exporting(); }));
    CHECK(QFile::exists(path + QStringLiteral(".png")));
  }
  window->exportPane(*window->pane("replay"), folder.filePath(QStringLiteral("replay.html")));
  REQUIRE(wait_until([&] { return !window->exporting(); }));
  CHECK(QFile::exists(folder.filePath(QStringLiteral("replay.html"))));

  auto& tables = dynamic_cast<TablesPane&>(*window->pane("tables"));
  const QSignalSpy saved(&tables, &Pane::message);
  tables.saveCsv(folder.filePath(QStringLiteral("groups.csv")));
  REQUIRE(wait_until([&] { return saved.count() > 0; }));
  CHECK(QFile::exists(folder.filePath(QStringLiteral("groups.csv"))));

  auto& what_if = dynamic_cast<WhatIfPane&>(*window->pane("whatif"));
  window->raisePane("whatif");
  window->selection().select(step_subject(StepId(5)));
  REQUIRE(wait_until([&] { return what_if.session().legal() != nullptr && !what_if.session().pricing(); }));
  what_if.session().setTarget("dma.startup_cycles", "900.0", QStringLiteral("start-up"));
  REQUIRE(wait_until([&] { return !what_if.session().pending(); }));
  what_if.saveToml(folder.filePath(QStringLiteral("edit.toml")), false);
  REQUIRE(wait_until([&] { return QFile::exists(folder.filePath(QStringLiteral("edit.toml"))); }));
  what_if.session().planNetwork();
  REQUIRE(wait_until([&] { return !what_if.session().planning(); }));

  window->look().setPointSize(11);
  window->close();
  window.reset();
  // What was changed is there for the next window.
  MainWindow next;
  const QSettings settings(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("stowage"),
                           QStringLiteral("inspector"));
  CHECK(settings.value(QStringLiteral("points")).toDouble() == 11);
  CHECK(settings.value(QStringLiteral("recent")).toStringList().contains(sample_folder("lenet")));
  next.look().setPointSize(10);  // for the tests behind
}

}  // namespace
}  // namespace stowage::test
