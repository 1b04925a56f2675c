// SPDX-License-Identifier: Apache-2.0
// The pane with the curve of a network over one value of its target.
#include "inspector/panes/sensitivity_pane.h"

#include <QTest>
#include <catch2/catch.hpp>

#include "core/check.h"
#include "driver/sensitivity/curve_page.h"
#include "driver/sensitivity/curve_tables.h"
#include "inspector/draw/scene_drawing.h"
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
  const AskedCurve here = asked(plan, {"6144", "98304", "", "2"});
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
    for (std::size_t i = 0; i < shown.marks.size(); ++i) {
      CHECK(shown.marks[i].tip.toStdString() == scene.shapes[i].tip);
      CHECK(shown.marks[i].text.toStdString() == scene.shapes[i].text);
      crosses += scene.shapes[i].stroke == drawing::Ink::error ? 1 : 0;
    }
    CHECK(crosses == 2);  // two strokes of one
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

TEST_CASE("the sensitivity pane is used with mouse and keyboard", "[inspector]") {
  MainWindow window;
  open_sample(window, "lenet");
  window.raisePane("sensitivity");
  auto& pane = pane_of<SensitivityPane>(window, "sensitivity");
  REQUIRE(wait_until([&] { return pane.key().currentText() == QStringLiteral("target.ldm.bytes"); }));
  CHECK(pane.from().text() == QStringLiteral("16384"));
  pane.from().setText(QStringLiteral("32768"));
  pane.to().setText(QStringLiteral("65536"));
  QTest::mouseClick(&pane.button(), Qt::LeftButton);
  REQUIRE(wait_until([&] { return pane.curve() != nullptr && !pane.busy(); }, 60));
  CHECK(pane.curve()->points.size() == 2);
  CHECK(pane.words().toStdString() == knee_lines(*pane.curve()).front());
  CHECK(pane.chart().drawing().marks.size() > 20);

  pane.from().setText(QStringLiteral("70000"));
  QTest::keyClick(&pane.from(), Qt::Key_Return);
  REQUIRE(wait_until([&] { return pane.words().contains(QStringLiteral("before its beginning")) && !pane.busy(); }));
  CHECK(pane.curve() == nullptr);

  // Another key brings its own range.
  pane.key().setCurrentText(QStringLiteral("target.cores.count"));
  CHECK(pane.from().text() == QStringLiteral("16"));
  CHECK(pane.to().text() == QStringLiteral("128"));
  pane.calculate();
  CHECK(pane.button().text() == QStringLiteral("Cancel"));
  QTest::mouseClick(&pane.button(), Qt::LeftButton);
  REQUIRE(wait_until([&] { return !pane.busy(); }));
  CHECK(pane.curve() == nullptr);
}

}  // namespace
}  // namespace stowage::test
