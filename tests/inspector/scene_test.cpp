// SPDX-License-Identifier: Apache-2.0
// The pictures that the report has too: in the window they are the same shapes, in the theme's colours.
#include "inspector/draw/scene_drawing.h"

#include <catch2/catch.hpp>

#include "driver/drawing/cost_bars.h"
#include "driver/drawing/ldm_map.h"
#include "driver/drawing/memory_chart.h"
#include "driver/drawing/roofline.h"
#include "inspector/cost/cost_chart.h"
#include "inspector/ldm/ldm_map.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;
using drawing::Ink;
using drawing::Scene;
using drawing::Shape;

void check_same(const Scene& scene, const Drawing& shown, const Look& look) {
  INFO(scene.title);
  CHECK(shown.size == QSizeF(scene.width, scene.height));
  REQUIRE(shown.marks.size() == scene.shapes.size());
  CHECK(scene.shapes.size() > 10);
  for (std::size_t i = 0; i < scene.shapes.size(); ++i) {
    const Shape& shape = scene.shapes[i];
    const Mark& mark = shown.marks[i];
    INFO("shape " << i << ": " << shape.text << shape.tip);
    CHECK((mark.kind == Mark::Kind::text) == (shape.kind == Shape::Kind::text));
    CHECK((mark.kind == Mark::Kind::ellipse) == (shape.kind == Shape::Kind::ellipse));
    CHECK(mark.rect == QRectF(shape.box.x, shape.box.y, shape.box.width, shape.box.height));
    CHECK(mark.points.size() == static_cast<qsizetype>(shape.points.size()));
    CHECK(mark.text.toStdString() == shape.text);
    CHECK(mark.tip.toStdString() == shape.tip);
    CHECK(mark.upward == shape.upward);
    CHECK((mark.pattern != Qt::SolidPattern) == (shape.pattern != drawing::Hatch::none));
    CHECK(mark.subject.has_value() == shape.subject.has_value());
    if (mark.subject && shape.subject) {
      CHECK(mark.subject->step == shape.subject->step);
      CHECK(mark.subject->op == shape.subject->op);
      CHECK(mark.subject->buffer == shape.subject->buffer);
      CHECK(mark.subject->statement == shape.subject->statement);
    }
    if (shape.kind == Shape::Kind::text) {
      CHECK(mark.stroke.isValid());
      CHECK_FALSE(mark.fill.isValid());
    } else {
      CHECK(mark.fill == color_of(shape.fill, look.theme()));
      CHECK(mark.stroke == color_of(shape.stroke, look.theme()));
    }
  }
}

TEST_CASE("the window has the shapes of the report's pictures", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const Program& program = plan->program();
  for (const bool dark : {false, true}) {
    Look look;
    look.setDark(dark);
    const QSizeF room(700, 400);
    const drawing::Sheet sheet = sheet_of(look, room);
    check_same(drawing::roofline(program, drawing::roofline_points(program), sheet), roofline(*plan, look, room), look);
    check_same(drawing::cost_bars(program, StepId(0), std::nullopt, sheet), cost_terms(*plan, StepId(0), look, room),
               look);
    check_same(drawing::cost_bars(program, plan->compilation.network, nullptr, sheet),
               cost_terms(*plan, std::nullopt, look, room), look);
    check_same(drawing::ldm_map(program, StepId(0), sheet), ldm_map(*plan, StepId(0), look, room), look);
    check_same(drawing::ldm_peaks(program, sheet), ldm_peaks(*plan, look, room), look);
    check_same(drawing::memory_chart(program, StepId(1), sheet), dram_map(*plan, step_subject(StepId(1)), look, room),
               look);
  }
}

TEST_CASE("a theme has a colour for every ink, and texts on shapes are readable in both", "[inspector]") {
  for (const bool dark : {false, true}) {
    const Theme theme = make_theme(dark);
    for (int i = 1; i < drawing::ink_count; ++i) {
      INFO(name_of(static_cast<Ink>(i)) << (dark ? ", dark" : ", light"));
      CHECK(color_of(static_cast<Ink>(i), theme).isValid());
    }
    CHECK_FALSE(color_of(Ink::none, theme).isValid());
    Look look;
    look.setDark(dark);
    Scene scene;
    for (const Ink ink : {Ink::input, Ink::between, Ink::output, Ink::chosen}) {
      scene.text({0, 0, 50, 10}, "name", Ink::none, drawing::Font::small).fill = ink;
      const QColor text = drawn(scene, look).marks.back().stroke;
      CHECK(std::abs(text.lightnessF() - color_of(ink, theme).lightnessF()) > 0.25F);
    }
  }
}

TEST_CASE("pictures are laid out by the window's fonts", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  Look look;
  const drawing::Sheet small = sheet_of(look, {600, 300});
  look.setPointSize(18);
  const drawing::Sheet large = sheet_of(look, {600, 300});
  CHECK(large.text_width("name") > 1.5 * small.text_width("name"));
  CHECK(drawing::cost_bars(plan->program(), StepId(0), std::nullopt, large).height >
        1.5 * drawing::cost_bars(plan->program(), StepId(0), std::nullopt, small).height);
  CHECK(small.titled);
}

}  // namespace
}  // namespace stowage::test
