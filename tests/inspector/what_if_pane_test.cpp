// SPDX-License-Identifier: Apache-2.0
// The pane of what if by mouse and keyboard. Its values are in what_if_test.cpp.
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <catch2/catch.hpp>

#include "driver/session/schedule_toml.h"
#include "driver/store/plan_file.h"
#include "inspector/panes/what_if_pane.h"
#include "inspector/whatif/result_drawing.h"
#include "tests/inspector/evaluated.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

struct Opened : OpenPane<WhatIfPane> {
  explicit Opened(const char* sample, StepId step = StepId(0)) {
    open(sample, step);
    show(1000, 700);
    settle();
  }
  void settle() {
    REQUIRE(wait_until([&] { return pane.session().latest() != nullptr && !pane.session().pending(); }));
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
    REQUIRE(wait_until([&] { return !pane.session().pending(); }));
  }
  [[nodiscard]] std::string nest() { return to_text(pane.session().legal()->plan().nest); }
  [[nodiscard]] QString shown() {
    QString text;
    for (const Mark& mark : pane.result().drawing().marks) text += mark.text + QLatin1Char(' ');
    return text;
  }
};

TEST_CASE("undo gives back the same plan byte for byte", "[inspector]") {
  Opened opened("matmul");
  WhatIfSession& session = opened.pane.session();
  const std::string before = opened.nest();
  CHECK(before == to_text(sample_plan("matmul")->steps[StepId(0)].plan->nest));
  QSpinBox* box = opened.pane.controls().bufferBox("y");
  REQUIRE(box != nullptr);
  CHECK(box->value() == 128);
  box->setValue(64);
  opened.settle();
  const std::string after = opened.nest();
  CHECK(after != before);
  CHECK(session.stale());
  CHECK(opened.pane.status().text().contains(QStringLiteral("Stale")));
  CHECK(opened.pane.controls().bufferLock("y")->isChecked());
  CHECK(opened.shown().contains(QStringLiteral("buffers 64 of y instead of 128")));
  session.history().undo();
  opened.settle();
  CHECK(opened.nest() == before);
  CHECK(session.edit().empty());
  CHECK_FALSE(session.stale());
  CHECK(box->value() == 128);
  session.history().redo();
  opened.settle();
  CHECK(opened.nest() == after);
}

TEST_CASE("nothing is pending once the plan of which an edit waited for its turn is gone", "[inspector]") {
  Opened opened("matmul");
  WhatIfSession& session = opened.pane.session();
  // The second comes while the first is evaluated.
  opened.pane.controls().bufferBox("y")->setValue(64);
  opened.pane.controls().bufferBox("y")->setValue(32);
  REQUIRE(session.pending());
  opened.document.show(nullptr);
  CHECK(wait_until([&] { return !session.pending(); }, 5));
}

TEST_CASE("an edit that cannot be leaves the last result and says why", "[inspector]") {
  Opened opened("matmul");
  opened.pane.controls().bufferBox("y")->setValue(512);
  opened.settle();
  const std::string before = opened.nest();
  opened.pane.controls().bufferBox("k")->setValue(1024);
  opened.settle();
  CHECK_FALSE(opened.pane.session().latest()->refusal.allowed);
  CHECK(opened.nest() == before);
  CHECK(opened.shown().contains(QStringLiteral("This edit is not possible")));
  CHECK(opened.shown().contains(qt(opened.pane.session().latest()->refusal.rule)));
  CHECK(opened.pane.controls().bufferBox("k")->value() == 1024);
}

TEST_CASE("loops and transfers move by the keyboard", "[inspector]") {
  Opened opened("matmul");
  NestList& nest = opened.pane.controls().nest();
  REQUIRE(nest.count() == 6);  // x yo ko A B C
  nest.setCurrentRow(1);
  QTest::keyClick(&nest, Qt::Key_Up, Qt::ControlModifier);
  opened.settle();
  CHECK(*opened.pane.session().fixed().order == std::vector<std::string>{"yo", "x", "ko"});
  CHECK(opened.pane.session().legal()->plan().schedule.order == opened.pane.session().fixed().order);
  opened.pane.session().history().undo();
  opened.settle();
  nest.setCurrentRow(5);
  QTest::keyClick(&nest, Qt::Key_Up, Qt::ControlModifier);
  opened.settle();
  CHECK(opened.pane.session().fixed().dma.at("C") == "ko");
  CHECK_FALSE(opened.pane.session().latest()->refusal.allowed);
}

TEST_CASE("a slider that is held is one step of undo", "[inspector]") {
  Opened opened("matmul");
  const auto fix = [&](std::int64_t size, int stroke) {
    opened.pane.session().fix(buffers({{"y", size}}), QStringLiteral("buffer y"), stroke);
  };
  fix(100, 7);
  fix(90, 7);
  fix(80, 7);
  fix(70, 0);
  opened.settle();
  CHECK(opened.pane.session().history().count() == 2);
  opened.pane.session().history().undo();
  CHECK(opened.pane.session().fixed().buffer.at("y") == 80);
  opened.pane.session().history().undo();
  CHECK(opened.pane.session().edit().empty());
  opened.settle();
}

TEST_CASE("the network is planned with the edits and compared with what was opened", "[inspector]") {
  Opened opened("lenet");
  WhatIfSession& session = opened.pane.session();
  const PlanPtr base = opened.document.plan();
  session.setTarget("dma.startup_cycles", "50000.0", QStringLiteral("start-up"));
  opened.settle();
  session.takeSnapshot(QStringLiteral("slow start"));
  REQUIRE(wait_until([&] { return !session.planning(); }));
  CHECK(opened.document.kept().size() == 2);
  CHECK(opened.document.plan() == base);
  session.planNetwork();
  REQUIRE(wait_until([&] { return !session.planning() && opened.document.plan() != base; }));
  CHECK(opened.document.baseline() == base);
  CHECK(opened.document.plan()->totals.cycles > base->totals.cycles);
  CHECK(opened.document.plan()->totals.dma.bytes == base->totals.dma.bytes);
  CHECK_FALSE(session.stale());
  CHECK(session.base() == base);
  // Without the edit the other panes are behind again.
  session.history().undo();
  CHECK(session.stale());
  session.restoreSnapshot(0);
  CHECK_FALSE(session.stale());
  session.planNetwork();
  session.cancelPlanning();
  CHECK_FALSE(session.planning());
}

TEST_CASE("edits are written whole or not at all", "[inspector]") {
  Opened opened("matmul");
  opened.pane.session().fix(buffers({{"y", 64}}), QStringLiteral("buffer y"));
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("edit.toml"));
  const QSignalSpy said(&opened.pane, &Pane::message);
  opened.pane.saveToml(path, true);
  REQUIRE(wait_until([&] { return said.count() == 1; }));
  CHECK(said.back().front().toString() == QStringLiteral("Saved %1").arg(path));
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  CHECK(file.readAll().contains("[job.schedule.'matmul']\nbuffer = { 'y' = 64 }\n"));
  opened.pane.saveToml(QStringLiteral("/nowhere/at/all.toml"), false);
  REQUIRE(wait_until([&] { return said.count() == 2; }));
  CHECK(said.back().front().toString().contains(QStringLiteral("/nowhere/at/all.toml cannot be written: ")));
  CHECK(QDir(folder.path()).entryList(QDir::Files) == QStringList{QStringLiteral("edit.toml")});
  opened.settle();
}

TEST_CASE("the wheel changes a number only where the number has the keyboard", "[inspector]") {
  Opened opened("matmul");
  QSpinBox* box = opened.pane.controls().bufferBox("y");
  QSpinBox& ldm = opened.pane.controls().ldmBytes();
  const auto turn = [](QWidget& field) {
    QWheelEvent event(QPointF(5, 5), field.mapToGlobal(QPointF(5, 5)), {}, {0, -360}, Qt::NoButton, {},
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&field, &event);
  };
  REQUIRE_FALSE(box->hasFocus());
  for (QWidget* field : {static_cast<QWidget*>(box), static_cast<QWidget*>(&ldm)}) turn(*field);
  for (auto* slider : opened.pane.findChildren<QSlider*>()) turn(*slider);
  CHECK(opened.pane.session().edit().empty());
  CHECK_FALSE(box->hasFocus());
  opened.pane.activateWindow();
  box->setFocus();
  REQUIRE(QTest::qWaitForWindowActive(&opened.pane));
  turn(*box);
  CHECK(opened.pane.session().fixed().buffer.at("y") == 125);
  opened.settle();
}

TEST_CASE("what-if's numbers and names are never cut", "[inspector]") {
  Look look;
  const PlanPtr plan = sample_plan("lenet");
  Evaluation evaluation = evaluated(*plan, StepId(0), {});
  ResultInput input;
  input.base = plan.get();
  input.step = StepId(0);
  evaluation.name = "a_group_with_a_name_that_is_longer_than_any_line_" + plan->steps[StepId(0)].step->group.name;
  input.legal = input.latest = &evaluation;
  for (const double width : {240.0, 330.0, 500.0, 900.0}) {
    const Drawing drawing = result_drawing(input, look, {width, 0});
    for (const Mark& mark : drawing.marks) {
      if (mark.kind != Mark::Kind::text) continue;
      INFO(width << ": " << mark.text.toStdString());
      CHECK(QFontMetricsF(mark.font).horizontalAdvance(mark.text) <= mark.rect.width() + 0.5);
      CHECK(mark.rect.right() <= drawing.size.width());
    }
  }
}

TEST_CASE("what is below the line of the state does not move when it speaks", "[inspector]") {
  Opened opened("matmul");
  for (const int width : {330, 1000}) {
    opened.pane.resize(width, 700);
    QCoreApplication::processEvents();
    const int before = opened.pane.controls().mapTo(&opened.pane, QPoint(0, 0)).y();
    opened.pane.session().fix(buffers({{"y", 64}}), QStringLiteral("buffer y"));
    opened.settle();
    QCoreApplication::processEvents();
    CHECK(opened.pane.status().text().contains(QStringLiteral("Stale")));
    CHECK(opened.pane.controls().mapTo(&opened.pane, QPoint(0, 0)).y() == before);
    opened.pane.session().history().undo();
    opened.settle();
  }
}

TEST_CASE("a refused place names statement, buffer and iteration, and the list shows what was asked for",
          "[inspector]") {
  Opened opened("matmul");
  NestList& nest = opened.pane.controls().nest();
  nest.setCurrentRow(3);  // get A
  QTest::keyClick(&nest, Qt::Key_Up, Qt::ControlModifier);
  opened.settle();
  REQUIRE_FALSE(opened.pane.session().latest()->refusal.allowed);
  const QString shown = opened.shown();
  INFO(shown.toStdString());
  CHECK(shown.contains(QStringLiteral("statement 6, buffer A_ldm of 1 × 64")));
  CHECK(shown.contains(QStringLiteral("inside yo; it stands inside ko")));
  CHECK(shown.contains(QStringLiteral("ko = 1 needs another part of A")));
  CHECK(shown.contains(QStringLiteral("The plan without it")));
  QStringList rows;
  for (int row = 0; row < nest.count(); ++row) rows.push_back(nest.item(row)->text().simplified());
  CHECK(rows.indexOf(QStringLiteral("get A")) == 2);  // below "for yo", above "for ko"
  auto* button = opened.pane.findChild<QToolButton*>(QStringLiteral("plan_network"));
  REQUIRE(button != nullptr);
  CHECK_FALSE(button->isEnabled());
}

TEST_CASE("numbers to be edited are grouped as all others are", "[inspector]") {
  Opened opened("matmul");
  QSpinBox& ldm = opened.pane.controls().ldmBytes();
  CHECK(ldm.text() == count_text(65536));
  ldm.setFocus();
  ldm.selectAll();
  QTest::keyClicks(&ldm, QStringLiteral("32768"));
  QTest::keyClick(&ldm, Qt::Key_Return);
  CHECK(ldm.value() == 32768);
  opened.settle();
}

}  // namespace
}  // namespace stowage::test
