// SPDX-License-Identifier: Apache-2.0
#include <QFontMetricsF>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver/drawing/address_axis.h"
#include "driver/drawing/buffer_states.h"
#include "fusion/groups/horizontal_fusion.h"
#include "inspector/draw/drawing_view.h"
#include "inspector/ldm/ldm_map.h"
#include "inspector/ldm/regions.h"
#include "inspector/panes/ldm_pane.h"
#include "tests/fusion/net.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("states of the matmul's buffers over its program", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const drawing::BufferTimeline timeline = drawing::buffer_timeline(plan->steps[StepId(0)].plan->nest);
  std::vector<std::size_t> ids;
  for (const StatementId id : timeline.columns) ids.push_back(id.index());
  // fill C; get A, get B, wait A, wait B, compute; put C, wait C
  CHECK(ids == std::vector<std::size_t>{3, 6, 7, 8, 9, 10, 11, 12});
  std::string text;
  for (const drawing::BufferSpan& span : timeline.spans) {
    text += tensor_of_buffer(plan->steps[StepId(0)].plan->nest, span.buffer) + " " + std::to_string(span.first) + "-" +
            std::to_string(span.last) + " " + std::string(name_of(span.state)) + "\n";
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
    for (const StepId i : plan->steps.ids()) {
      const StepFacts& step = plan->steps[i];
      if (step.plan == nullptr) continue;
      const drawing::BufferTimeline timeline = drawing::buffer_timeline(step.plan->nest);
      const auto& buffers = step.plan->nest.buffers;
      for (const drawing::BufferSpan& a : timeline.spans) {
        for (const drawing::BufferSpan& b : timeline.spans) {
          const Buffer& first = buffers[a.buffer];
          const Buffer& second = buffers[b.buffer];
          if (a.buffer >= b.buffer || a.last < b.first || b.last < a.first) continue;
          if (first.shares_with || second.shares_with) continue;
          INFO(name << " step " << i.index() << ": " << first.name << " and " << second.name);
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
                                     dram_map(*plan, step_subject(StepId(0)), look, {600, 300})};
    for (const StepId i : plan->steps.ids()) {
      if (plan->steps[i].plan != nullptr) drawings.push_back(ldm_map(*plan, i, look, {600, 400}));
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

TEST_CASE("the map of main memory lights the storage into which chosen branches write", "[inspector]") {
  testing::Net net("branches");
  const TensorId x = net.op("Relu", "shared", {net.input("x", {1, 16, 14, 14})});
  const TensorId one = net.op("Relu", "one_relu", {net.conv("one", x, 12, 1)});
  const TensorId two = net.op("Relu", "two_relu", {net.conv("two", x, 6, 1)});
  const TensorId all = net.op("Concat", "all", {one, two}, {{"axis", std::int64_t{1}}});
  const Graph graph = net.done({net.op("Relu", "after", {net.conv("next", all, 8)})});
  CompileRequest request;
  request.fusion = "exact";
  Diagnostics diagnostics;
  auto compilation = compile_graph(graph, request, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  const PlanPtr plan = make_loaded_plan(*std::move(compilation), "branches", "", {});
  const auto of_branches = std::find_if(plan->steps.begin(), plan->steps.end(),
                                        [](const StepFacts& step) { return is_horizontal(step.step->group); });
  REQUIRE(of_branches != plan->steps.end());
  const StepId step = plan->steps.id_of(*of_branches);
  const Look look;
  const QColor lit = look.theme().category(3);
  int written = 0;
  for (const Mark& mark : dram_map(*plan, step_subject(step), look, {900, 400}).marks) {
    if (mark.kind != Mark::Kind::rect || mark.tip.isEmpty() || mark.fill != lit) continue;
    if (mark.tip.contains(format("from step {} to", step.index()))) ++written;
  }
  CHECK(written == 1);  // one and two lie in one storage
}

TEST_CASE("addresses are to scale where all is large, and what is small is still to be seen", "[inspector]") {
  const drawing::AddressAxis plain(1000, {{0, 400}, {400, 800}}, 0, 100, 10);
  CHECK(plain.to_scale());
  CHECK(plain.y(0) == 100);
  CHECK(plain.y(400) == Approx(60));
  CHECK(plain.y(1000) == Approx(0).margin(1e-9));
  const drawing::AddressAxis small(65536, {{0, 256}, {256, 2048}}, 0, 200, 14);
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
    for (const StepId i : plan->steps.ids()) {
      if (plan->steps[i].plan == nullptr) continue;
      const Drawing map = ldm_map(*plan, i, look, {700, 500});
      double peak = -1;
      for (const Mark& mark : map.marks) {
        if (mark.kind == Mark::Kind::line && mark.pen == Qt::DotLine) peak = mark.points.front().y();
      }
      REQUIRE(peak > 0);
      for (const Mark& mark : map.marks) {
        if (mark.kind != Mark::Kind::rect || !mark.subject || !mark.subject->buffer) continue;
        INFO(name << " " << i.index() << ": " << mark.tip.toStdString());
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
  view.setBuilder([&](QSizeF room) { return ldm_map(*plan, StepId(0), look, room); });
  view.show();
  const Mark* buffer = nullptr;
  for (const Mark& mark : view.drawing().marks) {
    if (mark.kind == Mark::Kind::rect && mark.subject == buffer_subject(StepId(0), BufferId(1))) buffer = &mark;
  }
  REQUIRE(buffer != nullptr);
  CHECK(buffer->tip.contains(QStringLiteral("B_ldm")));
  QSignalSpy chosen(&view, &DrawingView::chosen);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, buffer->rect.center().toPoint());
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].value<Subject>() == buffer_subject(StepId(0), BufferId(1)));
  view.setLit(buffer_subject(StepId(0), BufferId(1)), {});
  QTest::keyClick(&view, Qt::Key_Up);
  REQUIRE(chosen.count() == 2);
  CHECK_FALSE(chosen[1][0].value<Subject>() == buffer_subject(StepId(0), BufferId(1)));
}

/// "A 0,64 1x64" of every buffer: where it starts, and how large it is.
std::string regions_text(const StepFacts& step, const LoopPosition& position) {
  std::string text;
  for (const BufferRegion& region : regions_at(step, position)) {
    REQUIRE(region.extents);
    std::string starts;
    std::string sizes;
    for (const Extent& extent : *region.extents) {
      starts += (starts.empty() ? "" : ",") + std::to_string(extent.first);
      sizes += (sizes.empty() ? "" : "x") + std::to_string(extent.size);
    }
    text += tensor_of_buffer(step.plan->nest, region.buffer) + " " + starts + " " + sizes + "\n";
  }
  return text;
}

TEST_CASE("regions of the papers' matmul move with the loops", "[inspector]") {
  const StepFacts& step = sample_plan("matmul")->steps[StepId(0)];
  const std::vector<LoopRange> loops = loops_of(step);
  REQUIRE(loops.size() == 3);
  CHECK(loops[1].name == "yo");
  CHECK(loops[1].trips == 8);
  CHECK(loops[2].trips == 16);
  CHECK(regions_text(step, {}) == "A 0,0 1x64\nB 0,0 64x128\nC 0,0 1x128\n");
  CHECK(regions_text(step, {0, {{loops[1].statement, 3}, {loops[2].statement, 15}}}) ==
        "A 0,960 1x64\nB 960,384 64x128\nC 0,384 1x128\n");
  // Beyond the last trip is the last.
  CHECK(regions_text(step, {0, {{loops[1].statement, 99}}}) == "A 0,0 1x64\nB 0,896 64x128\nC 0,896 1x128\n");
}

TEST_CASE("the regions of all cores and trips cover an output once", "[inspector]") {
  for (const char* name : {"matmul", "lenet"}) {
    const PlanPtr plan = sample_plan(name);
    for (const StepId i : plan->steps.ids()) {
      const StepFacts& step = plan->steps[i];
      if (step.plan == nullptr) continue;
      INFO(name << ": " << step.step->group.name);
      const LoopNest& nest = step.plan->nest;
      std::optional<BufferId> buffer;
      int loop_count = 1;
      std::vector<LoopRange> around;  // loops around the transfer that writes
      for (const StatementFacts& facts : step.statements) {
        const auto* dma = facts.statement != nullptr ? std::get_if<Dma>(&facts.statement->node) : nullptr;
        if (dma == nullptr || dma->direction != DmaDirection::put) continue;
        buffer = dma->buffer;
        around.clear();
        for (const StatementFacts* outer = step.find(facts.parent); outer != nullptr;
             outer = step.find(outer->parent)) {
          for (const LoopRange& loop : loops_of(step)) {
            if (loop.statement == outer->statement->id) around.push_back(loop);
          }
        }
      }
      REQUIRE(buffer.has_value());
      for (const LoopRange& loop : around) loop_count *= static_cast<int>(loop.trips);
      std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> seen;  // start -> size
      for (int core = 0; core < nest.cores_used(); ++core) {
        for (int trip = 0; trip < loop_count; ++trip) {
          LoopPosition position{core, {}};
          int rest = trip;
          for (const LoopRange& loop : around) {
            position.trips[loop.statement] = rest % loop.trips;
            rest /= static_cast<int>(loop.trips);
          }
          const BufferRegion region = regions_at(step, position)[*buffer];
          if (region.elements() == 0) continue;
          std::vector<std::int64_t> start;
          std::vector<std::int64_t> size;
          for (std::size_t d = 0; d < region.extents->size(); ++d) {
            start.push_back((*region.extents)[d].first);
            size.push_back((*region.extents)[d].size);
            CHECK(start.back() >= 0);
            CHECK(start.back() + size.back() <= region.shape[d]);
          }
          seen[start] = size;
        }
      }
      std::int64_t covered = 0;
      for (const auto& [start, size] : seen) {
        std::int64_t elements = 1;
        for (const std::int64_t extent : size) elements *= extent;
        covered += elements;
      }
      std::int64_t all = 1;
      const BufferRegion first = regions_at(step, {})[*buffer];
      for (const std::int64_t extent : first.shape) all *= extent;
      CHECK(covered == all);
    }
  }
}

TEST_CASE("a slider for every loop moves the regions that are drawn", "[inspector]") {
  OpenPane<LdmPane> opened;
  LdmPane& pane = opened.pane;
  opened.open("matmul");
  opened.show(900, 900);
  QCoreApplication::processEvents();
  const auto texts = [&] {
    QString all;
    for (const Mark& mark : pane.regions().drawing().marks) all += mark.text + QLatin1Char('\n');
    return all;
  };
  CHECK(texts().contains(QStringLiteral("the one core, x = 0, yo = 0, ko = 0")));
  CHECK(texts().contains(QStringLiteral("↓ 0 to 63 of 1024, → 0 to 127 of 1024")));
  CHECK(pane.sliders().core() == nullptr);
  QSlider* loop = pane.sliders().loop("ko");
  REQUIRE(loop != nullptr);
  CHECK(loop->maximum() == 15);
  loop->setFocus();
  QTest::keyClick(loop, Qt::Key_Right);
  QTest::keyClick(loop, Qt::Key_Right);
  CHECK(texts().contains(QStringLiteral("ko = 2")));
  CHECK(texts().contains(QStringLiteral("↓ 128 to 191 of 1024, → 0 to 127 of 1024")));
  // Another group has sliders of its own.
  opened.open("lenet");
  pane.flush();
  CHECK(pane.sliders().loop("ko") == nullptr);
  REQUIRE(pane.sliders().core() != nullptr);
  CHECK(pane.sliders().core()->maximum() == sample_plan("lenet")->steps[StepId(0)].plan->nest.cores_used() - 1);
}

TEST_CASE("labels under the LDM map are not cut", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const Look look;
  int upward = 0;
  for (const StepId i : plan->steps.ids()) {
    for (const Mark& mark : ldm_map(*plan, i, look, {700, 400}).marks) {
      if (!mark.upward) continue;
      ++upward;
      INFO(mark.text.toStdString());
      CHECK(QFontMetricsF(mark.font).horizontalAdvance(mark.text) <= mark.rect.height());
    }
  }
  CHECK(upward > 20);
}

TEST_CASE("an exported LDM picture is as high as what is drawn", "[inspector]") {
  for (const char* name : {"matmul", "lenet"}) {
    OpenPane<LdmPane> opened;
    LdmPane& pane = opened.pane;
    opened.open(name);
    pane.flush();
    const QSizeF size = pane.exportSize({1280, 800});
    QImage image(static_cast<int>(size.width()), static_cast<int>(size.height()) + 200, QImage::Format_RGB32);
    image.fill(Qt::magenta);
    QPainter painter(&image);
    pane.draw(painter, size);
    painter.end();
    int below = 0;
    for (int y = static_cast<int>(size.height()) + 2; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) below += image.pixelColor(x, y) != QColor(Qt::magenta) ? 1 : 0;
    }
    INFO(name);
    CHECK(below == 0);
  }
}

}  // namespace
}  // namespace stowage::test
