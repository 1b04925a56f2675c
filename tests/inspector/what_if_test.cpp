// SPDX-License-Identifier: Apache-2.0
// What if: the core by its values, then the pane by mouse and keyboard.
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "driver/schedule_toml.h"
#include "inspector/panes/what_if_pane.h"
#include "inspector/whatif/result_drawing.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

PlanEdit edit_of(Schedule schedule) {
  PlanEdit edit;
  edit.schedules["matmul"] = std::move(schedule);
  return edit;
}

Schedule buffers(std::map<std::string, std::int64_t> sizes) {
  Schedule schedule;
  schedule.buffer = std::move(sizes);
  return schedule;
}

TEST_CASE("without an edit the answer is the plan itself", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  for (std::size_t i = 0; i < plan->steps.size(); ++i) {
    if (plan->steps[i].plan == nullptr) continue;
    const Evaluation evaluation = evaluate(*plan, static_cast<int>(i), {});
    REQUIRE(evaluation.result);
    CHECK(evaluation.start == Schedule{});
    CHECK(to_text(evaluation.plan().nest) == to_text(plan->steps[i].plan->nest));
    CHECK(numbers_of(evaluation.plan(), evaluation.target()) ==
          numbers_of(*plan->steps[i].plan, plan->program().target));
    CHECK(verdict(*plan->steps[i].plan, plan->program().target, evaluation.plan(), evaluation.target()) ==
          "The same as the plan.");
  }
}

TEST_CASE("a smaller buffer of the papers' matmul costs more transfers", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const Evaluation evaluation = evaluate(*plan, 0, edit_of(buffers({{"y", 64}, {"k", 64}})));
  REQUIRE(evaluation.result);
  const GroupNumbers numbers = numbers_of(evaluation.plan(), evaluation.target());
  // A and B once for each of 16 x 16 tiles, C once for each of 16.
  CHECK(numbers.transfers == 2 * 256 + 16);
  CHECK(numbers.ldm_bytes == 64 * 4 + 64 * 64 * 4 + 64 * 4);
  const std::string words =
      verdict(*plan->steps[0].plan, plan->program().target, evaluation.plan(), evaluation.target());
  CHECK(words.find("slower") != std::string::npos);
  CHECK(words.find("buffers 64 of y instead of 128") != std::string::npos);
}

TEST_CASE("what cannot be is refused with rule and reason", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const auto refusal = [&](const PlanEdit& edit) {
    const Evaluation evaluation = evaluate(*plan, 0, edit);
    UNSCOPED_INFO(evaluation.refusal.rule << ": " << evaluation.refusal.reason);
    CHECK_FALSE(evaluation.result);
    CHECK_FALSE(evaluation.refusal.allowed);
    CHECK_FALSE(evaluation.refusal.rule.empty());
    return evaluation.refusal.reason;
  };
  CHECK(refusal(edit_of(buffers({{"y", 1024}, {"k", 1024}}))).find("KiB") != std::string::npos);
  CHECK(refusal(edit_of(buffers({{"y", 4096}}))).find("its range on one core is 1..1024") != std::string::npos);
  Schedule order;
  order.order = {"ko", "x", "yo"};
  CHECK(refusal(edit_of(order)).find("must stay outside of the reduction ko") != std::string::npos);
  Schedule place;
  place.dma["A"] = "x";
  CHECK_FALSE(refusal(edit_of(place)).empty());
  Schedule split;
  split.parallel = {{"y", 64}};
  CHECK(refusal(edit_of(split)).find("the target has 1 cores") != std::string::npos);
  PlanEdit target;
  target.target["ldm_bytes"] = "12";
  CHECK_FALSE(refusal(target).empty());
}

TEST_CASE("controls name what can be set and where a transfer can stand", "[inspector]") {
  const GroupControls controls = evaluate(*sample_plan("matmul"), 0, {}).controls;
  REQUIRE(controls.iterators.size() == 3);
  CHECK(controls.iterators[1].name == "y");
  CHECK(controls.iterators[1].range == 1024);
  CHECK(controls.iterators[1].buffer == 128);
  CHECK(controls.iterators[1].loop == "yo");
  CHECK_FALSE(controls.iterators[2].spatial);
  REQUIRE(controls.loops.size() == 3);
  CHECK(controls.loops[2].name == "ko");
  CHECK(controls.loops[2].trips == 16);
  REQUIRE(controls.places.size() == 3);
  CHECK(controls.places[0].loops == std::vector<std::string>{"ko"});
  CHECK(controls.places[2].loops == std::vector<std::string>{"yo"});
  std::vector<std::string> rows;
  for (const NestRow& row : nest_rows(controls)) rows.push_back(row.name);
  CHECK(rows == std::vector<std::string>{"x", "yo", "C", "ko", "A", "B"});
}

TEST_CASE("dragging rows sets order and places", "[inspector]") {
  const GroupControls controls = evaluate(*sample_plan("matmul"), 0, {}).controls;  // x yo C ko A B
  CHECK(with_row_moved({}, controls, 1, 0).order == std::vector<std::string>{"yo", "x", "ko"});
  CHECK(with_row_moved({}, controls, 0, 3).order == std::vector<std::string>{"yo", "x", "ko"});
  CHECK(with_row_moved({}, controls, 0, 1) == Schedule{});
  CHECK(with_row_moved({}, controls, 4, 0).dma.at("A").empty());
  CHECK(with_row_moved({}, controls, 4, 2).dma.at("A") == "yo");
  CHECK(with_row_stepped({}, controls, 4, -1).dma.at("A") == "yo");
  CHECK(with_row_stepped({}, controls, 2, 1).dma.at("C") == "ko");
  CHECK(with_row_stepped({}, controls, 3, -1).order == std::vector<std::string>{"x", "ko", "yo"});
  CHECK(with_row_stepped({}, controls, 0, -1) == Schedule{});
  CHECK(with_row_moved({}, controls, 9, 0) == Schedule{});
}

TEST_CASE("a fixed order follows the names that loops get from their sizes", "[inspector]") {
  const GroupControls controls = evaluate(*sample_plan("matmul"), 0, {}).controls;
  Schedule fixed;
  fixed.order = {"x", "yo", "ko"};
  fixed.dma["A"] = "yo";
  const Schedule one = with_buffer(fixed, controls, "y", 1);
  CHECK(*one.order == std::vector<std::string>{"x", "y", "ko"});
  CHECK(one.dma.at("A") == "y");
  const Schedule whole = with_buffer(fixed, controls, "y", 1024);
  CHECK(*whole.order == std::vector<std::string>{"x", "ko"});
  CHECK(whole.dma.empty());
  fixed.dma.clear();
  CHECK(evaluate(*sample_plan("matmul"), 0, edit_of(with_buffer(fixed, controls, "y", 1))).result);
}

/// The numbers that the command line prints for the sample with these arguments.
QJsonObject command_line(const QString& folder, const QStringList& more) {
  QProcess process;
  process.setWorkingDirectory(folder);
  const QString tool = QString::fromUtf8(STOWAGE_TOOL);
  process.start(
      tool, {QStringLiteral("network"), QStringLiteral("matmul"), QStringLiteral("-o"), QStringLiteral("matmul.onnx")});
  REQUIRE(process.waitForFinished(60000));
  process.start(tool, QStringList{QStringLiteral("compile"), QStringLiteral("matmul.onnx"), QStringLiteral("-o"),
                                  QStringLiteral("out"), QStringLiteral("--json"), QStringLiteral("--set"),
                                  QStringLiteral("target.cores=1"), QStringLiteral("--set"),
                                  QStringLiteral("target.ldm_reserved=0")} +
                          more);
  REQUIRE(process.waitForFinished(60000));
  INFO(process.readAllStandardError().toStdString());
  REQUIRE(process.exitCode() == 0);
  return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
}

TEST_CASE("the command line gives what the pane shows for the edits written as TOML", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  Schedule schedule = buffers({{"y", 64}});
  schedule.order = {"yo", "x", "ko"};
  schedule.dma["A"] = "ko";
  PlanEdit edit = edit_of(schedule);
  QStringList settings;
  SECTION("a schedule") {}
  SECTION("a schedule and a target") {
    edit.target["dma_startup_cycles"] = "500.0";
    edit.target["dma_bandwidth"] = scaled_bandwidth(plan->program().target, 0.5);
    for (const auto& [key, value] : edit.target) {
      settings << QStringLiteral("--set") << qt("target." + key + "=" + value);
    }
  }
  const Evaluation evaluation = evaluate(*plan, 0, edit);
  REQUIRE(evaluation.result);
  const GroupNumbers numbers = numbers_of(evaluation.plan(), evaluation.target());
  const QTemporaryDir folder;
  Diagnostics diagnostics;
  PlanPtr network;
  std::jthread([&] { network = plan_network(*plan, edit, diagnostics, {}, {}); }).join();
  REQUIRE(network);
  CHECK(to_text(network->steps[0].plan->nest) == to_text(evaluation.plan().nest));
  QFile file(folder.filePath(QStringLiteral("edit.toml")));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(schedule_file(edit)));
  file.close();
  const QJsonObject json =
      command_line(folder.path(), QStringList{QStringLiteral("--schedule"), QStringLiteral("edit.toml")} + settings);
  const auto number = [&](const char* key) { return static_cast<std::int64_t>(json[QLatin1String(key)].toDouble()); };
  CHECK(number("dma_transfers") == numbers.transfers);
  CHECK(number("dma_operations") == numbers.operations);
  CHECK(number("dma_bytes") == numbers.bytes);
  CHECK(number("ldm_peak_bytes") == numbers.ldm_bytes);
  CHECK(number("cycles") == numbers.cycles);
  CHECK(number("cycles") == network->totals.cycles);
  // And read again the file is the same edits.
  const auto read = parse_schedules(schedule_file(edit), "edit.toml", diagnostics);
  REQUIRE(read);
  CHECK(read->schedules == edit.schedules);
}

struct Opened {
  Look look;
  Document document;
  Selection selection{document};
  WhatIfPane pane{PaneContext{document, selection, look}};
  explicit Opened(const char* sample, int step = 0) {
    document.show(sample_plan(sample));
    selection.select(step_place(step));
    pane.resize(1000, 700);
    pane.show();
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
  CHECK(before == to_text(sample_plan("matmul")->steps[0].plan->nest));
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
  REQUIRE(nest.count() == 6);  // x yo C ko A B
  nest.setCurrentRow(1);
  QTest::keyClick(&nest, Qt::Key_Up, Qt::ControlModifier);
  opened.settle();
  CHECK(*opened.pane.session().fixed().order == std::vector<std::string>{"yo", "x", "ko"});
  CHECK(opened.pane.session().legal()->plan().schedule.order == opened.pane.session().fixed().order);
  opened.pane.session().history().undo();
  opened.settle();
  nest.setCurrentRow(2);
  QTest::keyClick(&nest, Qt::Key_Down, Qt::ControlModifier);
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
  Opened opened("lenet", 0);
  WhatIfSession& session = opened.pane.session();
  const PlanPtr base = opened.document.plan();
  session.setTarget("dma_startup_cycles", "50000.0", QStringLiteral("start-up"));
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
  CHECK(opened.pane.saveToml(path, true).isEmpty());
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  CHECK(file.readAll().contains("[job.schedule.'matmul']\nbuffer = { 'y' = 64 }\n"));
  CHECK(opened.pane.saveToml(QStringLiteral("/nowhere/at/all.toml"), false).contains(QStringLiteral("/nowhere")));
  CHECK(QDir(folder.path()).entryList(QDir::Files) == QStringList{QStringLiteral("edit.toml")});
  opened.settle();
}

}  // namespace
}  // namespace stowage::test
