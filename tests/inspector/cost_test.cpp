// SPDX-License-Identifier: Apache-2.0
#include "inspector/cost/cost_chart.h"

#include <QFontMetricsF>
#include <catch2/catch.hpp>

#include "driver/drawing/roofline.h"
#include "lowering/time/rates.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("the terms of a group's time stand with formula and source", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  Look look;
  const Drawing drawing = cost_terms(*plan, StepId(0), look, {500, 400});
  QString text;
  // Long formulas go over several lines; nothing of them is cut.
  for (const Mark& mark : drawing.marks) {
    text += mark.text + QLatin1Char(' ');
    if (mark.kind == Mark::Kind::text) {
      CHECK(QFontMetricsF(mark.font).horizontalAdvance(mark.text) <= mark.rect.width() + 0.5);
    }
  }
  text = text.simplified();
  for (const TimeTerm& term : plan->steps[StepId(0)].plan->time.terms) {
    CHECK(text.contains(qt(name_of(term.cost))));
    CHECK(text.contains(qt(formula_text(term.cost)).simplified()));
    CHECK(text.contains(qt(source_of(term.cost))));
  }
  // A and B are read once, and A again for every tile of y.
  CHECK(text.contains(QStringLiteral("moved 8.00 times its 4.00 KiB")));
  CHECK(text.contains(QStringLiteral("moved 1.00 times its 4.00 MiB")));
}

TEST_CASE("no dot of the roofline lies above its roof", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const Target& target = plan->program().target;
  const auto points = drawing::roofline_points(plan->program());
  CHECK(points.size() >= 5);
  for (const drawing::RooflinePoint& point : points) {
    const double roof = std::min(drawing::peak_rate(target), point.intensity * peak_dma_bandwidth(target));
    CHECK(point.rate <= roof * (1 + 1e-9));
  }
  Look look;
  int dots = 0;
  for (const Mark& mark : roofline(*plan, look, {700, 400}).marks) dots += mark.kind == Mark::Kind::ellipse ? 1 : 0;
  CHECK(dots == static_cast<int>(points.size()));
}

}  // namespace
}  // namespace stowage::test
