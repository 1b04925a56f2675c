// SPDX-License-Identifier: Apache-2.0
// The pane with what the checker finds: of a plan's group, of an edited folder, of an exercise and its answer.
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/check.h"
#include "driver/exercises/exercises.h"
#include "driver/session/session.h"
#include "inspector/panes/check_pane.h"
#include "inspector/state/load.h"
#include "tests/inspector/window_fixture.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

using namespace inspector;
namespace fs = std::filesystem;

void save(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string text_in(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A folder with an exercise, as the tool writes it.
void write_exercise(const QTemporaryDir& folder, int number) {
  Diagnostics diagnostics;
  const auto target = target_of(CompileRequest{}, diagnostics);
  REQUIRE(target);
  const Exercise exercise = make_exercise(number, 1, *target);
  const fs::path path = folder.path().toStdString();
  save(path / fmt::format("exercise-{}.nest", number), exercise.nest);
  save(path / fmt::format("exercise-{}.md", number), exercise.sheet);
}

/// Opens something that is no plan, and waits for its nests.
CheckPane& opened(MainWindow& window, const QString& path) {
  QSignalSpy came(&window.document(), &Document::checkedOpened);
  window.show();
  window.open({path, {}});
  REQUIRE(wait_until([&] { return came.count() == 1; }));
  auto& pane = pane_of<CheckPane>(window, "check");
  REQUIRE(wait_until([&] { return pane.isVisible(); }));
  pane.settle();
  return pane;
}

QString gutter(const CheckPane& pane, std::size_t statement) {
  for (const CodeLine& line : const_cast<CheckPane&>(pane).code().code().lines) {
    if (line.subject && line.subject->statement == StatementId(statement)) return line.gutter[1];
  }
  return QStringLiteral("no such line");
}

TEST_CASE("the chosen group of a plan is checked, and the verdict is the tool's", "[inspector]") {
  MainWindow window;
  open_sample(window, "lenet");
  auto& pane = pane_of<CheckPane>(window, "check");
  window.raisePane("check");
  const StepId step = step_named(*window.document().plan(), "conv2");
  window.selection().select(step_subject(step));
  pane.settle();
  const Plan& plan = *window.document().plan()->step(step)->plan;
  const CheckedNest made = checked("conv2", plan.nest, {}, window.document().plan()->program().target);
  CHECK(pane.title().toStdString() + "\n" == verdict_text(made));
  CHECK(pane.title().startsWith(QStringLiteral("conv2: good, ")));
  CHECK(pane.list().topLevelItemCount() == 0);
  CHECK(pane.back().isHidden());
  // A click on a line chooses its statement everywhere.
  Q_EMIT pane.code().chosen(statement_subject(step, StatementId(3)));
  CHECK(window.selection().subject().statement == StatementId(3));
}

TEST_CASE("an exercise is shown with its sheet, answered, and opened at its counter-example", "[inspector]") {
  const QTemporaryDir folder;
  write_exercise(folder, 1);
  write_exercise(folder, 3);
  MainWindow window;
  CheckPane& pane = opened(window, folder.path());
  REQUIRE(pane.nests().count() == 2);
  CHECK(pane.sheet().startsWith(QStringLiteral("Exercise 1: a wait is missing\n")));
  pane.nests().setCurrentIndex(1);
  CHECK(pane.sheet().startsWith(QStringLiteral("Exercise 3: two slots are exchanged\n")));
  CHECK_FALSE(pane.sheet().contains(QStringLiteral("nest product")));
  // Nothing gives the answer away.
  CHECK(pane.title() == QStringLiteral("product: one thing is wrong with it"));
  CHECK(pane.list().topLevelItemCount() == 0);
  CHECK(pane.details().isEmpty());
  for (const int statement : {9, 10}) CHECK(gutter(pane, statement).isEmpty());

  QTest::mouseClick(&pane.answer(), Qt::LeftButton);
  CHECK(pane.reply() == QStringLiteral("Choose the family of the fault first."));
  pane.family().setCurrentText(QStringLiteral("race"));
  Q_EMIT pane.code().chosen(statement_subject(StepId(1), StatementId(4)));
  CHECK(pane.statement().value() == 4);
  QTest::mouseClick(&pane.answer(), Qt::LeftButton);
  CHECK(pane.reply() == QStringLiteral("No: the family is right, but it shows elsewhere."));
  pane.family().setCurrentText(QStringLiteral("overlap"));
  QTest::mouseClick(&pane.answer(), Qt::LeftButton);
  CHECK(pane.reply() == QStringLiteral("No: there is no such fault."));
  CHECK(pane.list().topLevelItemCount() == 0);

  pane.family().setCurrentText(QStringLiteral("race"));
  Q_EMIT pane.code().chosen(statement_subject(StepId(1), StatementId(10)));
  QTest::mouseClick(&pane.answer(), Qt::LeftButton);
  CHECK(pane.reply() == QStringLiteral("Yes. What happens:"));
  REQUIRE(pane.list().topLevelItemCount() > 0);
  CHECK(pane.litStatement() == StatementId(10));
  CHECK(pane.litOther() == StatementId(9));
  CHECK(gutter(pane, 10).startsWith(QStringLiteral("✖1")));
  CHECK(gutter(pane, 9).startsWith(QStringLiteral("↔1")));
  CHECK(pane.details().contains(QStringLiteral("statement 10 on core 0, ko = 0")));

  // The other one is still to be solved; giving up shows it.
  pane.nests().setCurrentIndex(0);
  CHECK(pane.list().topLevelItemCount() == 0);
  QTest::mouseClick(&pane.solution(), Qt::LeftButton);
  CHECK(pane.list().topLevelItemCount() > 0);
  CHECK_FALSE(pane.answer().isEnabled());
}

TEST_CASE("a mended exercise is called good", "[inspector]") {
  const QTemporaryDir folder;
  write_exercise(folder, 3);
  const fs::path file = fs::path(folder.path().toStdString()) / "exercise-3.nest";
  std::string text = text_in(file);
  const std::size_t at = text.find("B_ldm[(ko + 1) % 2]) over");
  REQUIRE(at != std::string::npos);
  save(file, text.replace(at, 19, "B_ldm[ko % 2]"));
  MainWindow window;
  CHECK(opened(window, folder.path()).title().startsWith(QStringLiteral("product: good, ")));
}

TEST_CASE("an edited plan that nothing else takes is opened at the fault, and the plan before it stays",
          "[inspector]") {
  const QTemporaryDir folder;
  const fs::path copy = fs::path(folder.path().toStdString()) / "edited";
  fs::copy(sample_folder("matmul").toStdString(), copy, fs::copy_options::recursive);
  std::string text = text_in(copy / "plan.json");
  const std::string wait = "wait 7\"";
  const std::size_t at = text.find(wait);
  REQUIRE(at != std::string::npos);
  save(copy / "plan.json", text.replace(at, wait.size(), "wait 6\""));

  MainWindow window;
  open_sample(window, "lenet");
  const PlanPtr before = window.document().plan();
  CheckPane& pane = opened(window, QString::fromStdString(copy.string()));
  CHECK(window.document().plan() == before);
  REQUIRE_FALSE(window.document().diagnostics().entries().empty());
  CHECK(window.document().diagnostics().entries().front().code == "damaged-plan");
  REQUIRE(pane.list().topLevelItemCount() > 0);
  CHECK(pane.title().startsWith(QStringLiteral("matmul: ")));
  CHECK(pane.litStatement() == StatementId(9));
  pane.list().setCurrentItem(pane.list().topLevelItem(1));
  CHECK(pane.litStatement() == StatementId(10));
  CHECK(pane.litOther() == StatementId(7));

  QTest::mouseClick(&pane.back(), Qt::LeftButton);
  CHECK_FALSE(window.document().checked());
  pane.settle();
  CHECK(pane.title().contains(QStringLiteral(": good, ")));
}

TEST_CASE("a nest is checked for the target that is chosen", "[inspector]") {
  const QTemporaryDir folder;
  write_exercise(folder, 1);
  const fs::path path = folder.path().toStdString();
  fs::rename(path / "exercise-1.nest", path / "product.nest");
  std::string toml = text_in(test::source_folder() / "samples/targets/sw26010.toml");
  const std::string bytes = "\nbytes = 65536\n";
  REQUIRE(toml.find(bytes) != std::string::npos);
  toml.replace(toml.find(bytes), bytes.size(), "\nbytes = 8192\n");
  save(path / "small.toml", toml);

  MainWindow window;
  CheckPane& pane = opened(window, QString::fromStdString((path / "product.nest").string()));
  CHECK(pane.targets().isVisible());
  CHECK(pane.targets().currentText() == QStringLiteral("sw26010"));
  const auto families = [&] {
    QStringList all;
    for (int row = 0; row < pane.list().topLevelItemCount(); ++row) all << pane.list().topLevelItem(row)->text(1);
    return all;
  };
  CHECK_FALSE(families().contains(QStringLiteral("capacity")));
  const QString small = QString::fromStdString((path / "small.toml").string());
  pane.checkFor(small);
  REQUIRE(wait_until([&] { return window.document().checked()->target == small.toStdString(); }));
  pane.settle();
  CHECK(families().contains(QStringLiteral("capacity")));
  CHECK(pane.targets().currentText() == small);
  // What is no target is told, and what was there stays.
  pane.checkFor(QStringLiteral("sunflower"));
  pane.settle();
  CHECK(pane.targets().currentText() == small);
  CHECK(families().contains(QStringLiteral("capacity")));
}

TEST_CASE("nests are read beside the window's thread, and what is none is told", "[inspector]") {
  Diagnostics diagnostics;
  CHECK_THROWS_AS(check_file("somewhere.nest", diagnostics, {}), InternalError);
  CHECK_THROWS_AS(holds_exercises("somewhere"), InternalError);
  const QTemporaryDir folder;
  const std::string file = (fs::path(folder.path().toStdString()) / "broken.nest").string();
  save(file, "nest broken {\n");
  const Loading loading = beside([&] { return load(file, {}, {}, {}); });
  CHECK_FALSE(loading.checked);
  CHECK_FALSE(loading.plan);
  CHECK(loading.diagnostics.has_errors());
}

}  // namespace
}  // namespace stowage::test
