// SPDX-License-Identifier: Apache-2.0
// Edits are seen and not lost: what is edited of other groups, what other panes show of it, and the question before
// edits that are not saved go.
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <catch2/catch.hpp>

#include "inspector/panes/what_if_pane.h"
#include "inspector/window/main_window.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

Schedule buffers(std::map<std::string, std::int64_t> sizes) {
  Schedule schedule;
  schedule.buffer = std::move(sizes);
  return schedule;
}

struct Edited {
  MainWindow window;
  explicit Edited(const char* sample = "lenet") {
    window.resize(1280, 800);
    window.show();
    window.open({sample_folder(sample), {}});
    REQUIRE(wait_until([&] { return plan() != nullptr && !window.document().busy(); }));
    window.raisePane("whatif");
    pane().flush();
    settle();
  }
  [[nodiscard]] PlanPtr plan() { return window.document().plan(); }
  [[nodiscard]] WhatIfPane& pane() { return *dynamic_cast<WhatIfPane*>(window.pane("whatif")); }
  [[nodiscard]] WhatIfSession& session() { return pane().session(); }
  void settle() {
    REQUIRE(wait_until([&] { return session().latest() != nullptr && !session().pending(); }));
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
    REQUIRE(wait_until([&] { return !session().pending(); }));
  }
  void choose(const char* group) {
    window.selection().select(step_subject(step_named(*session().base(), group)));
    settle();
  }
  void fix(const char* group, const char* iterator, std::int64_t size) {
    choose(group);
    session().fix(buffers({{iterator, size}}), QStringLiteral("buffer"));
    settle();
  }
  void plan_network() {
    session().planNetwork();
    REQUIRE(wait_until([&] { return !session().planning() && !session().stale(); }));
    settle();
  }
  [[nodiscard]] QString status() { return pane().status().text(); }
  [[nodiscard]] QString tip() { return window.findChild<QDockWidget*>(QStringLiteral("loops"))->toolTip(); }
  [[nodiscard]] QLabel& list() {
    auto* list = pane().findChild<QLabel*>(QStringLiteral("edits"));
    REQUIRE(list != nullptr);
    return *list;
  }
  [[nodiscard]] QMessageBox* question() {
    for (auto* box : window.findChildren<QMessageBox*>()) {
      if (box->isVisible()) return box;
    }
    return nullptr;
  }
  void answer(QMessageBox::StandardButton button) {
    REQUIRE(wait_until([&] { return question() != nullptr; }, 2));
    question()->button(button)->click();
    REQUIRE(wait_until([&] { return question() == nullptr; }, 2));
  }
  /// Fills in the dialog for the file's name.
  void name_file(const QString& path) {
    const auto dialog = [&]() -> QFileDialog* {
      for (auto* one : window.findChildren<QFileDialog*>()) {
        if (one->isVisible()) return one;
      }
      return nullptr;
    };
    REQUIRE(wait_until([&] { return dialog() != nullptr; }, 2));
    auto* name = dialog()->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
    REQUIRE(name != nullptr);
    name->setText(path);
    QMetaObject::invokeMethod(dialog(), "accept");
  }
};

TEST_CASE("stale says what the other panes show: without these edits, with dropped ones, with others", "[inspector]") {
  Edited edited;
  edited.fix("conv2", "xx", 4);
  CHECK(edited.status().contains(QStringLiteral("without these edits")));
  CHECK(edited.tip().contains(QStringLiteral("without the edits")));
  edited.plan_network();
  CHECK_FALSE(edited.status().contains(QStringLiteral("Stale")));
  CHECK(edited.tip().isEmpty());
  edited.session().change({}, QStringLiteral("discard edits"));
  edited.settle();
  REQUIRE(edited.session().stale());
  CHECK(edited.status().contains(QStringLiteral("Stale")));
  CHECK(edited.status().contains(QStringLiteral("with edits that are discarded here")));
  CHECK_FALSE(edited.status().contains(QStringLiteral("without")));
  CHECK(edited.tip().contains(QStringLiteral("with edits that What if has discarded")));
  edited.fix("ip1", "y", 4);
  CHECK(edited.status().contains(QStringLiteral("with other edits than these")));
  CHECK(edited.tip().contains(QStringLiteral("with other edits than those of What if")));
  edited.plan_network();
  CHECK(edited.tip().isEmpty());
}

TEST_CASE("edits of all groups are listed whatever is chosen, and each leads to its group", "[inspector]") {
  Edited edited;
  CHECK(edited.list().text().contains(QStringLiteral("no edits")));
  const int height = edited.pane().controls().mapTo(&edited.pane(), QPoint(0, 0)).y();
  edited.fix("conv2", "xx", 4);
  edited.choose("ip1");
  CHECK(edited.list().isVisible());
  CHECK(edited.list().text().contains(QStringLiteral("conv2")));
  CHECK_FALSE(edited.list().text().contains(QStringLiteral("ip1")));
  edited.session().setTarget("cores.count", "32", QStringLiteral("cores"));
  edited.settle();
  CHECK(edited.list().text().contains(QStringLiteral("target: cores.count")));
  // Groups that are made otherwise, by their operators.
  REQUIRE(wait_until([&] { return !edited.session().pricing() && !edited.session().regroupings().empty(); }));
  edited.session().regroup(
      {{*edited.plan()->graph().find_operator("ip1")}, {*edited.plan()->graph().find_operator("relu1")}},
      QStringLiteral("apart"));
  edited.settle();
  edited.choose("prob");
  CHECK(edited.list().text().contains(QStringLiteral("ip1 | relu1")));
  // What is below does not move.
  CHECK(edited.pane().controls().mapTo(&edited.pane(), QPoint(0, 0)).y() == height);
  // An entry leads to its group; also when it does not fit, the tooltip has all of them.
  const OpId conv2 = *edited.plan()->graph().find_operator("conv2");
  const QString link = QString::number(conv2.index());
  REQUIRE(edited.list().text().contains(QStringLiteral("href=\"%1\"").arg(link)));
  // Links are seen on dark ground too.
  CHECK(edited.list().text().contains(make_theme(false).accent.name()));
  edited.window.look().setDark(true);
  edited.pane().flush();
  CHECK(edited.list().text().contains(make_theme(true).accent.name()));
  edited.window.look().setDark(false);
  Q_EMIT edited.list().linkActivated(link);
  edited.settle();
  CHECK(edited.window.selection().subject().step == step_named(*edited.plan(), "conv2"));
  CHECK(edited.list().toolTip().contains(QStringLiteral("conv2: buffer xx 4")));
  edited.session().change({}, QStringLiteral("discard edits"));
  edited.settle();
  CHECK(edited.list().text().contains(QStringLiteral("no edits")));
  CHECK(edited.list().toolTip().isEmpty());
}

TEST_CASE("a list of many edits is as wide as there is room, and says how many more there are", "[inspector]") {
  Edited edited;
  PlanEdit edit;
  for (const char* name : {"pool1", "conv2", "pool2", "ip1", "ip2", "prob"}) edit.schedules[name].order.emplace();
  for (const char* key : {"cores.count", "ldm.bytes", "ldm.reserved"}) edit.target[key] = "4096";
  edited.pane().resize(330, 600);
  const int width = edited.pane().minimumSizeHint().width();
  edited.session().change(edit, QStringLiteral("many"));
  edited.pane().resize(330, 600);  // until the dock gives it its room again
  CHECK(edited.pane().minimumSizeHint().width() == width);
  CHECK(edited.list().text().contains(QStringLiteral("more")));
  CHECK(edited.list().toolTip().contains(QStringLiteral("prob")));
  edited.settle();
}

TEST_CASE("closing with edits that are not saved asks, and cancel keeps window and edits", "[inspector]") {
  Edited edited;
  edited.fix("conv2", "xx", 4);
  const PlanEdit edit = edited.session().edit();
  QTest::keyClick(&edited.window, Qt::Key_Q, Qt::ControlModifier);
  REQUIRE(wait_until([&] { return edited.question() != nullptr; }, 2));
  CHECK(edited.question()->text().contains(QStringLiteral("conv2")));
  CHECK(edited.window.isVisible());
  edited.answer(QMessageBox::Cancel);
  CHECK(edited.window.isVisible());
  CHECK(edited.session().edit() == edit);
  SECTION("discard") {
    edited.window.close();
    edited.answer(QMessageBox::Discard);
    CHECK(wait_until([&] { return !edited.window.isVisible(); }, 2));
  }
  SECTION("save") {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("edits.toml"));
    edited.window.close();
    edited.answer(QMessageBox::Save);
    edited.name_file(path);
    CHECK(wait_until([&] { return !edited.window.isVisible(); }));
    QFile file(path);
    REQUIRE(file.open(QIODevice::ReadOnly));
    CHECK(file.readAll().contains("[schedule.'conv2']\nbuffer = { 'xx' = 4 }\n"));
  }
  SECTION("a file that cannot be written keeps the window open") {
    edited.window.close();
    edited.answer(QMessageBox::Save);
    edited.name_file(QStringLiteral("/proc/edits.toml"));
    CHECK_FALSE(wait_until([&] { return !edited.window.isVisible(); }, 0.5));
    CHECK(edited.session().edit() == edit);
  }
  SECTION("a second close while it asks does not ask twice") {
    edited.window.close();
    REQUIRE(wait_until([&] { return edited.question() != nullptr; }, 2));
    edited.window.close();
    int asking = 0;
    for (const auto* box : edited.window.findChildren<QMessageBox*>()) asking += box->isVisible() ? 1 : 0;
    CHECK(asking == 1);
    edited.answer(QMessageBox::Cancel);
  }
}

TEST_CASE("nothing is asked where nothing is lost", "[inspector]") {
  Edited edited;
  SECTION("no edits") {}
  SECTION("edits that were undone") {
    edited.fix("conv2", "xx", 4);
    edited.session().history().undo();
    edited.settle();
  }
  SECTION("edits that are saved") {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("edits.toml"));
    edited.fix("conv2", "xx", 4);
    edited.pane().saveToml(path, false);
    REQUIRE(wait_until([&] { return QFile::exists(path) && edited.pane().unsaved().isEmpty(); }));
    edited.fix("conv2", "xx", 2);
    CHECK_FALSE(edited.pane().unsaved().isEmpty());
    edited.session().history().undo();
    edited.settle();
  }
  edited.window.close();
  CHECK(edited.question() == nullptr);
  CHECK_FALSE(edited.window.isVisible());
}

TEST_CASE("opening another network with edits that are not saved asks", "[inspector]") {
  Edited edited;
  edited.fix("conv2", "xx", 4);
  const PlanEdit edit = edited.session().edit();
  const PlanPtr base = edited.plan();
  edited.window.open({sample_folder("matmul"), {}});
  REQUIRE(wait_until([&] { return edited.question() != nullptr; }, 2));
  CHECK_FALSE(edited.window.document().busy());
  edited.answer(QMessageBox::Cancel);
  CHECK_FALSE(wait_until([&] { return edited.plan() != base; }, 0.3));
  CHECK(edited.session().edit() == edit);
  // An opening that fails loses nothing, so that the question comes again.
  edited.window.open({QStringLiteral("/nowhere"), {}});
  edited.answer(QMessageBox::Discard);
  REQUIRE(wait_until([&] { return !edited.window.document().busy(); }));
  CHECK(edited.session().edit() == edit);
  edited.window.open({sample_folder("matmul"), {}});
  edited.answer(QMessageBox::Discard);
  REQUIRE(wait_until([&] { return edited.plan()->compilation.network == "matmul"; }));
  CHECK(edited.session().edit().empty());
}

TEST_CASE("edits come back with their plan when plan and baseline change places and back", "[inspector]") {
  Edited edited;
  const PlanPtr base = edited.plan();
  edited.fix("conv2", "xx", 4);
  const PlanEdit edit = edited.session().edit();
  edited.window.document().showBaseline(sample_plan("matmul"));
  edited.window.document().show(sample_plan("matmul"));
  CHECK(edited.session().edit().empty());
  // They are still to be saved, and asked about.
  CHECK(edited.pane().unsaved().contains(QStringLiteral("conv2")));
  edited.window.document().show(base);
  CHECK(edited.session().edit() == edit);
  CHECK(edited.session().stale());
  edited.session().change({}, QStringLiteral("discard edits"));
  CHECK(edited.pane().unsaved().isEmpty());
  REQUIRE(wait_until([&] { return !edited.session().pending(); }));
}

}  // namespace
}  // namespace stowage::test
