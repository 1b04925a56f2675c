// SPDX-License-Identifier: Apache-2.0
// The pane with the curve of a network over one value of its target.
#include "inspector/panes/sensitivity_pane.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>

#include "core/check.h"
#include "driver/sensitivity/curve_page.h"
#include "driver/sensitivity/curve_tables.h"
#include "inspector/draw/scene_drawing.h"
#include "tests/inspector/saved_edits.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

AskedCurve asked(const PlanPtr& plan, const RangeText& range) {
  return beside([&] { return ask_curve(*plan, "target.ldm.bytes", range, {}, {}); });
}

TEST_CASE("the window's curve is the command line's, and its picture the page's", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  CHECK_THROWS_AS(ask_curve(*plan, "target.ldm.bytes", {"1", "2", "", ""}, {}, {}), InternalError);
  const AskedCurve here = asked(plan, {"4096", "65536", "", "2"});
  REQUIRE(here.curve);
  CHECK(here.told.empty());
  REQUIRE(here.curve->points.size() == 5);
  CHECK_FALSE(here.curve->points.front().numbers);
  CHECK_FALSE(here.curve->knees.empty());
  for (const bool dark : {false, true}) {
    Look look;
    look.setDark(dark);
    const drawing::Scene scene = curve_chart(*here.curve, sheet_of(look, {700, 360}));
    const Drawing shown = drawn(scene, look);
    CHECK(shown.size == QSizeF(scene.width, scene.height));
    REQUIRE(shown.marks.size() == scene.shapes.size());
    int crosses = 0;
    std::set<int> items;
    for (std::size_t i = 0; i < shown.marks.size(); ++i) {
      CHECK(shown.marks[i].tip.toStdString() == scene.shapes[i].tip);
      CHECK(shown.marks[i].text.toStdString() == scene.shapes[i].text);
      CHECK(shown.marks[i].item == scene.shapes[i].item);
      if (shown.marks[i].item) items.insert(*shown.marks[i].item);
      crosses += scene.shapes[i].stroke == drawing::Ink::error ? 1 : 0;
    }
    CHECK(crosses == 2);  // two strokes of one
    CHECK(items == std::set<int>{1, 2, 3, 4});
  }
}

TEST_CASE("a curve begins around the plan's own value", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const RangeText ldm = usual_range(*plan, "target.ldm.bytes");
  CHECK(ldm.from == "16384");
  CHECK(ldm.to == "131072");
  CHECK(ldm.factor == "2");
  // Every key can be asked for as it stands.
  Diagnostics diagnostics;
  for (const auto& [key, value] : curve_keys(plan->program().target)) {
    INFO(key);
    const auto values = curve_values(key, usual_range(*plan, key), diagnostics);
    CHECK(values);
  }
}

TEST_CASE("the plan of a value is the one that the curve has its numbers of", "[inspector]") {
  PlanPtr plan = sample_plan("lenet");
  SECTION("with the model") {}
  SECTION("without") {
    Compilation alone = plan->compilation;
    alone.imported.reset();
    plan = beside([&] { return make_loaded_plan(alone, plan->origin, "", {}); });
  }
  const AskedCurve here = asked(plan, {"8192", "32768", "", "2"});
  REQUIRE(here.curve);
  CHECK_THROWS_AS(plan_at(*plan, here.curve->points.back().value, {}, {}), InternalError);
  for (const CurvePoint& point : here.curve->points) {
    INFO(point.value.toml);
    REQUIRE(point.numbers);
    const PlanAtValue made = beside([&] { return plan_at(*plan, point.value, {}, {}); });
    INFO(made.told);
    REQUIRE(made.plan);
    CHECK(made.plan->program().target.ldm.bytes == static_cast<std::int64_t>(point.number));
    CHECK(made.plan->totals.cycles == point.numbers->cycles);
    CHECK(made.plan->totals.dma.bytes == point.numbers->bytes);
    CHECK(made.plan->totals.ldm_peak_bytes == point.numbers->ldm_bytes);
    // What is written of it later finds the model.
    CHECK(made.plan->compilation.model.hash == plan->compilation.model.hash);
    CHECK(made.plan->compilation.command_line.find("--set target.ldm.bytes=" + point.value.toml) != std::string::npos);
  }
}

TEST_CASE("no plan by other templates is taken for a point of the curve", "[inspector]") {
  const QTemporaryDir folder;
  const QString templates = folder.filePath(QStringLiteral("own.toml"));
  REQUIRE(QFile::copy(QStringLiteral(STOWAGE_SAMPLES "/templates/gelu.toml"), templates));
  run_in(folder.path(), QStringLiteral("stowage network lenet -o lenet.onnx"));
  run_in(folder.path(), QStringLiteral("stowage compile lenet.onnx --planner swtvm --templates own.toml -o plan"));
  const PlanPtr plan = loaded(folder.filePath(QStringLiteral("plan")));
  const AskedCurve here = asked(plan, {"32768", "32768", "1", ""});
  INFO(here.told);
  REQUIRE(here.curve);
  const SweptValue& value = here.curve->points.front().value;
  const auto made = [&] { return beside([&] { return plan_at(*plan, value, {}, {}); }); };
  CHECK(made().plan != nullptr);
  save_text(templates, read_file(templates).toStdString() + "\n");
  CHECK(made().plan == nullptr);
  CHECK(made().told == "own.toml is not there as it was when the plan was made: put it back to compare");
}

/// The pane of a window with LeNet and a curve of these values of the LDM.
SensitivityPane& calculated(MainWindow& window, const char* from, const char* to) {
  open_sample(window, "lenet");
  window.raisePane("sensitivity");
  auto& pane = pane_of<SensitivityPane>(window, "sensitivity");
  REQUIRE(wait_until([&] { return pane.key().currentText() == QStringLiteral("target.ldm.bytes"); }));
  CHECK(pane.from().text() == QStringLiteral("16384"));
  pane.from().setText(QString::fromLatin1(from));
  pane.to().setText(QString::fromLatin1(to));
  QTest::mouseClick(&pane.button(), Qt::LeftButton);
  REQUIRE(wait_until([&] { return pane.curve() != nullptr && !pane.busy(); }, 60));
  return pane;
}

TEST_CASE("a curve is asked for with mouse and keyboard", "[inspector]") {
  MainWindow window;
  SensitivityPane& pane = calculated(window, "32768", "65536");
  CHECK(pane.curve()->points.size() == 2);
  CHECK(pane.words().toStdString() == knee_lines(*pane.curve()).front());
  CHECK(pane.chart().drawing().marks.size() > 20);
  CHECK(pane.values().model().rowCount() == 2);

  // What is wrong with the range is told as the tool tells it.
  pane.from().setText(QStringLiteral("70000"));
  QTest::keyClick(&pane.from(), Qt::Key_Return);
  REQUIRE(wait_until([&] { return pane.words().contains(QStringLiteral("before its beginning")) && !pane.busy(); }));
  CHECK(pane.curve() == nullptr);
  CHECK(pane.values().model().rowCount() == 0);

  // Another key brings its own range, and a curve that is not wanted any more is given up.
  pane.key().setCurrentText(QStringLiteral("target.cores.count"));
  CHECK(pane.from().text() == QStringLiteral("16"));
  CHECK(pane.to().text() == QStringLiteral("128"));
  pane.calculate();
  CHECK(pane.button().text() == QStringLiteral("Cancel"));
  QTest::mouseClick(&pane.button(), Qt::LeftButton);
  REQUIRE(wait_until([&] { return !pane.busy(); }));
  CHECK(pane.button().text() == QStringLiteral("Calculate"));
  CHECK(pane.curve() == nullptr);
}

TEST_CASE("the window answers while a curve is calculated, and hears how far it is", "[inspector]") {
  MainWindow window;
  SensitivityPane& pane = calculated(window, "65536", "65536");
  pane.from().setText(QStringLiteral("32768"));
  pane.to().setText(QStringLiteral("98304"));
  pane.by().setCurrentIndex(1);
  pane.amount().setText(QStringLiteral("2048"));
  const auto* bar = pane.findChild<QProgressBar*>();
  REQUIRE(bar != nullptr);
  CHECK_FALSE(bar->isVisible());
  int turns = 0;
  std::set<int> seen;  // what follows within 40 ms of another may be left out
  QObject::connect(bar, &QProgressBar::valueChanged, &pane, [&](int value) {
    if (bar->isVisible() && bar->maximum() == 33) seen.insert(value);
  });
  pane.calculate();
  REQUIRE(wait_until(
      [&] {
        ++turns;
        return !pane.busy();
      },
      60));
  CHECK(pane.curve()->points.size() == 33);
  CHECK(turns > 9);
  CHECK(seen.size() > 2);
  CHECK_FALSE(bar->isVisible());
}

/// Middle of the first mark of an item, in the view.
QPoint place_of(const SensitivityPane& pane, int item) {
  for (const Mark& mark : const_cast<SensitivityPane&>(pane).chart().drawing().marks) {
    if (mark.item == item) return mark.bounds().center().toPoint();
  }
  FAIL("no mark of item " << item);
  return {};
}

TEST_CASE("values of a curve are chosen in picture and table, and their plans compared", "[inspector]") {
  MainWindow window;
  SensitivityPane& pane = calculated(window, "6144", "49152");
  const PlanPtr plan = window.document().plan();
  DrawingView& chart = pane.chart();
  QTableView& table = pane.values().view();
  CHECK_FALSE(pane.point());
  CHECK_FALSE(pane.compareButton().isEnabled());

  // A dot is small: a click beside it will do.
  QTest::mouseClick(chart.viewport(), Qt::LeftButton, {}, place_of(pane, 2) + QPoint(5, 3));
  CHECK(pane.point() == 2);
  CHECK(table.currentIndex().row() == 2);
  CHECK(pane.compareButton().isEnabled());
  QTest::keyClick(&chart, Qt::Key_Right);
  CHECK(pane.point() == 3);
  QTest::keyClick(&chart, Qt::Key_Right);
  CHECK(pane.point() == 3);
  for (int i = 0; i < 3; ++i) QTest::keyClick(&chart, Qt::Key_Left);
  CHECK(pane.point() == 1);  // the first has no plan
  table.setCurrentIndex(table.model()->index(0, 0));
  CHECK(pane.point() == 0);
  CHECK_FALSE(pane.compareButton().isEnabled());
  // In a table that is sorted otherwise rows are still those of the curve.
  pane.values().view().sortByColumn(0, Qt::DescendingOrder);
  pane.choosePoint(2);
  CHECK(pane.values().filter().mapToSource(table.currentIndex()).row() == 2);
  // One that the table's filter hides is chosen in the picture.
  pane.values().filter().setPattern(QRegularExpression(QStringLiteral("^49.?152$")));
  REQUIRE(table.model()->rowCount() == 1);
  pane.choosePoint(3);
  CHECK(table.currentIndex().row() == 0);
  pane.choosePoint(2);
  CHECK(pane.point() == 2);
  CHECK_FALSE(table.currentIndex().isValid());
  pane.values().filter().setPattern({});
  CHECK(pane.point() == 2);

  QTest::keyClick(&chart, Qt::Key_Return);
  CHECK(pane.busy());
  REQUIRE(wait_until([&] { return window.document().comparison() != nullptr; }, 60));
  CHECK(window.document().plan() == plan);
  CHECK(window.document().baseline()->program().target.ldm.bytes == 24576);
  REQUIRE(pane.curve());
  CHECK(window.document().baseline()->totals.cycles == pane.curve()->points[2].numbers->cycles);
  REQUIRE(window.document().kept().size() == 1);
  CHECK(window.document().kept().front().name == QStringLiteral("target.ldm.bytes = 24 KiB"));

  // A curve is there again when its plan is.
  const auto curve = pane.curve();
  window.document().show(window.document().baseline());
  REQUIRE(wait_until([&] { return pane.curve() == nullptr; }));
  CHECK(pane.from().text() == QStringLiteral("6144"));
  window.document().show(plan);
  REQUIRE(wait_until([&] { return pane.curve() == curve; }));
  CHECK(pane.to().text() == QStringLiteral("49152"));
}

TEST_CASE("on a small screen the whole curve is in sight", "[inspector]") {
  MainWindow window;
  window.look().setPointSize(10);
  window.resize(1264, 672);
  SensitivityPane& pane = calculated(window, "8192", "65536");
  window.settle();
  REQUIRE_FALSE(pane.curve()->knees.empty());
  CHECK(pane.chart().drawing().size.height() <= pane.chart().viewport()->height());
  CHECK(pane.chart().drawing().size.width() <= pane.chart().viewport()->width());
  // And a row or two of the table.
  auto* tabs = pane.findChild<QTabWidget*>();
  REQUIRE(tabs != nullptr);
  tabs->setCurrentWidget(&pane.values());
  window.settle();
  QTableView& table = pane.values().view();
  INFO(table.viewport()->width() << " x " << table.viewport()->height() << " for " << table.horizontalHeader()->length()
                                 << " x " << table.rowHeight(0));
  CHECK(table.viewport()->rect().contains(table.visualRect(table.model()->index(0, 0))));
  CHECK_FALSE(table.horizontalScrollBar()->isVisible());
}

TEST_CASE("a curve of a plan that is no longer open is given up", "[inspector]") {
  MainWindow window;
  SensitivityPane& pane = calculated(window, "65536", "65536");
  pane.from().setText(QStringLiteral("16384"));
  pane.calculate();
  window.raisePane("graph");
  window.document().show(sample_plan("matmul"));
  CHECK_FALSE(pane.busy());
  window.raisePane("sensitivity");
  REQUIRE(wait_until([&] { return pane.curve() == nullptr; }));
  CHECK(pane.words().isEmpty());
}

}  // namespace
}  // namespace stowage::test
