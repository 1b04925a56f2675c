// SPDX-License-Identifier: Apache-2.0
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "inspector/draw/drawing_view.h"
#include "inspector/ldm/address_axis.h"
#include "inspector/ldm/buffer_states.h"
#include "inspector/ldm/ldm_map.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("states of the matmul's buffers over its program", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const BufferTimeline timeline = buffer_timeline(plan->steps[0]);
  // fill C; get A, get B, wait A, wait B, compute; put C, wait C
  CHECK(timeline.columns == std::vector<int>{3, 6, 7, 8, 9, 10, 11, 12});
  std::string text;
  for (const BufferSpan& span : timeline.spans) {
    text += tensor_of_buffer(plan->steps[0].plan->nest, span.buffer) + " " + std::to_string(span.first) + "-" +
            std::to_string(span.last) + " " + name_of(span.state).toStdString() + "\n";
  }
  CHECK(text ==
        "A 1-3 filling\n"
        "A 4-4 idle\n"
        "A 5-5 in use\n"
        "B 2-4 filling\n"
        "B 5-5 in use\n"
        "C 0-0 in use\n"
        "C 1-4 idle\n"
        "C 5-5 in use\n"
        "C 6-7 draining\n");
  REQUIRE(timeline.brackets.size() == 3);
  CHECK(timeline.brackets[2].first == 1);
  CHECK(timeline.brackets[2].last == 5);
}

TEST_CASE("buffers that live at once do not overlap on the map", "[inspector]") {
  // The planner's promise, seen through the picture: rectangles of different buffers are disjoint.
  for (const char* name : {"matmul", "lenet"}) {
    const PlanPtr plan = sample_plan(name);
    Look look;
    for (std::size_t i = 0; i < plan->steps.size(); ++i) {
      const StepFacts& step = plan->steps[i];
      if (step.plan == nullptr) continue;
      const BufferTimeline timeline = buffer_timeline(step);
      const auto& buffers = step.plan->nest.buffers;
      for (const BufferSpan& a : timeline.spans) {
        for (const BufferSpan& b : timeline.spans) {
          const Buffer& first = buffers[static_cast<std::size_t>(a.buffer)];
          const Buffer& second = buffers[static_cast<std::size_t>(b.buffer)];
          if (a.buffer >= b.buffer || a.last < b.first || b.last < a.first) continue;
          if (first.shares_with || second.shares_with) continue;
          INFO(name << " step " << i << ": " << first.name << " and " << second.name);
          CHECK((first.offset + first.bytes() <= second.offset || second.offset + second.bytes() <= first.offset));
        }
      }
    }
  }
}

TEST_CASE("no label of the maps covers another or leaves the picture", "[inspector]") {
  for (const char* name : {"matmul", "lenet"}) {
    const PlanPtr plan = sample_plan(name);
    Look look;
    std::vector<Drawing> drawings = {ldm_peaks(*plan, look, {600, 400}),
                                     dram_map(*plan, step_place(0), look, {600, 300})};
    for (std::size_t i = 0; i < plan->steps.size(); ++i) {
      if (plan->steps[i].plan != nullptr) drawings.push_back(ldm_map(*plan, static_cast<int>(i), look, {600, 400}));
    }
    for (const Drawing& drawing : drawings) {
      std::vector<const Mark*> texts;
      for (const Mark& mark : drawing.marks) {
        if (mark.kind == Mark::Kind::text && !mark.text.isEmpty()) texts.push_back(&mark);
        INFO(name << ": '" << mark.text.toStdString() << "'");
        const QRectF bounds = mark.bounds().adjusted(-0.1, -0.1, 0.1, 0.1);  // an empty rectangle is in none
        CHECK(QRectF(QPointF(-1, -1), drawing.size + QSizeF(2, 2)).contains(bounds));
      }
      for (std::size_t a = 0; a < texts.size(); ++a) {
        for (std::size_t b = a + 1; b < texts.size(); ++b) {
          const QRectF common = texts[a]->rect & texts[b]->rect;
          INFO(name << ": '" << texts[a]->text.toStdString() << "' and '" << texts[b]->text.toStdString() << "'");
          CHECK((common.width() < 2.5 || common.height() < 2.5));
        }
      }
    }
  }
}

TEST_CASE("addresses are to scale where all is large, and what is small is still to be seen", "[inspector]") {
  const AddressAxis plain(1000, {{0, 400}, {400, 800}}, 0, 100, 10);
  CHECK(plain.to_scale());
  CHECK(plain.y(0) == 100);
  CHECK(plain.y(400) == Approx(60));
  CHECK(plain.y(1000) == Approx(0).margin(1e-9));
  const AddressAxis small(65536, {{0, 256}, {256, 2048}}, 0, 200, 14);
  CHECK_FALSE(small.to_scale());
  CHECK(small.y(0) - small.y(256) >= 13.9);
  CHECK(small.y(256) - small.y(2048) > small.y(0) - small.y(256));
  CHECK(small.y(2048) < 80);  // what is free does not push it into a strip
  CHECK(small.y(65536) == Approx(0).margin(1e-9));
  double before = 201;
  for (const std::int64_t end : small.ends()) {
    CHECK(small.y(static_cast<double>(end)) < before);
    before = small.y(static_cast<double>(end));
  }
}

TEST_CASE("every buffer of the map is a visible rectangle below the peak line", "[inspector]") {
  for (const char* name : {"matmul", "lenet"}) {
    const PlanPtr plan = sample_plan(name);
    Look look;
    for (std::size_t i = 0; i < plan->steps.size(); ++i) {
      if (plan->steps[i].plan == nullptr) continue;
      const Drawing map = ldm_map(*plan, static_cast<int>(i), look, {700, 500});
      double peak = -1;
      for (const Mark& mark : map.marks) {
        if (mark.kind == Mark::Kind::line && mark.pen == Qt::DotLine) peak = mark.points.front().y();
      }
      REQUIRE(peak > 0);
      for (const Mark& mark : map.marks) {
        if (mark.kind != Mark::Kind::rect || !mark.place || mark.place->buffer < 0) continue;
        INFO(name << " " << i << ": " << mark.tip.toStdString());
        CHECK(mark.rect.height() >= 8);
        CHECK(mark.rect.top() >= peak - 0.01);
      }
    }
  }
}

TEST_CASE("a drawing is driven by mouse and arrow keys", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  Look look;
  DrawingView view(look);
  view.resize(700, 500);
  view.setBuilder([&](QSizeF room) { return ldm_map(*plan, 0, look, room); });
  view.show();
  const Mark* buffer = nullptr;
  for (const Mark& mark : view.drawing().marks) {
    if (mark.kind == Mark::Kind::rect && mark.place == buffer_place(0, 1)) buffer = &mark;
  }
  REQUIRE(buffer != nullptr);
  CHECK(buffer->tip.contains(QStringLiteral("B_ldm")));
  QSignalSpy chosen(&view, &DrawingView::chosen);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, buffer->rect.center().toPoint());
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].value<Place>() == buffer_place(0, 1));
  view.setLit(buffer_place(0, 1), {});
  QTest::keyClick(&view, Qt::Key_Up);
  REQUIRE(chosen.count() == 2);
  CHECK_FALSE(chosen[1][0].value<Place>() == buffer_place(0, 1));
}

}  // namespace
}  // namespace stowage::test
