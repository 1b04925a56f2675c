// SPDX-License-Identifier: Apache-2.0
// The timeline: what it draws is what was simulated, at any zoom; it is linked with the other panes.
#include "inspector/panes/timeline_pane.h"

#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "core/number_text.h"
#include "driver/drawing/program_timeline.h"
#include "driver/drawing/timeline_chart.h"
#include "inspector/draw/scene_drawing.h"
#include "inspector/panes/ldm_pane.h"
#include "inspector/panes/loops_pane.h"
#include "inspector/timeline/simulated.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;
using drawing::Ink;
using drawing::Shape;

SimulatedGroup simulated_group(const PlanPtr& plan, StepId step) {
  return beside([&] { return simulate_group(*plan, step, {}); });
}

TimelinePane& open_timeline(MainWindow& window, const char* sample, const char* group) {
  open_sample(window, sample);
  auto& pane = pane_of<TimelinePane>(window, "timeline");
  window.raisePane("timeline");
  window.selection().select(step_subject(step_named(*window.document().plan(), group)));
  REQUIRE(wait_until([&] { return pane.tracks() != nullptr; }));
  QCoreApplication::processEvents();
  return pane;
}

/// Parts of the row of cores that have a colour, in cycles: the area of its boxes.
double cycles_drawn(const drawing::TimelineChart& chart, const drawing::TimelineView& view, Ink ink, double top,
                    double bottom) {
  double area = 0;
  double height = 0;
  for (const Shape& shape : chart.scene.shapes) {
    if (shape.kind != Shape::Kind::box || shape.box.y < top || shape.box.bottom() > bottom) continue;
    if (shape.fill == Ink::base) height = shape.box.height;
    if (shape.fill == ink) area += shape.box.width * shape.box.height;
  }
  return area / height / (chart.right - chart.left) * static_cast<double>(view.to - view.from);
}

TEST_CASE("a row of the timeline has the colours of what was simulated, in proportion", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const SimulatedGroup group = simulated_group(plan, StepId(0));
  REQUIRE(group.tracks);
  CHECK_FALSE(group.tracks->timeline.repeats.empty());
  Look look;
  const drawing::Sheet sheet = sheet_of(look, {900, 0});
  const Simulation& simulation = group.tracks->simulation;
  for (const std::int64_t parts : {1, 7, 100, 3000}) {
    INFO("1/" << parts << " of it");
    drawing::TimelineView view;
    view.from = simulation.cycles / 3;
    view.to = view.from + simulation.cycles * 2 / 3 / parts;
    const drawing::TimelineChart chart =
        drawing::timeline_chart(plan->program(), StepId(0), *group.tracks, view, sheet);
    CHECK(chart.scene.shapes.size() < 12000);
    const auto heading = std::find_if(chart.scene.shapes.begin(), chart.scene.shapes.end(),
                                      [](const Shape& shape) { return shape.text == "cores"; });
    REQUIRE(heading != chart.scene.shapes.end());
    const double top = heading->box.bottom();
    TrackTotals expected = group.tracks->groups[0].core.until(view.to);
    const TrackTotals before = group.tracks->groups[0].core.until(view.from);
    const auto cycles = [&](TrackState state) {
      const auto i = static_cast<std::size_t>(state);
      return static_cast<double>(expected[i] - before[i]);
    };
    const auto length = static_cast<double>(view.to - view.from);
    const double row = sheet.fonts.height(drawing::Font::small) + 5;
    const auto drawn_in = [&](Ink ink) { return cycles_drawn(chart, view, ink, top, top + row); };
    CHECK(std::abs(drawn_in(Ink::compute) - cycles(TrackState::compute)) < 0.03 * length);
    CHECK(std::abs(drawn_in(Ink::get) - cycles(TrackState::wait_for_get)) < 0.03 * length);
    CHECK(cycles(TrackState::compute) + cycles(TrackState::wait_for_get) > 0.5 * length);
  }
}

TEST_CASE("zoomed in, boxes of the timeline say what they are", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const SimulatedGroup group = simulated_group(plan, StepId(0));
  Look look;
  drawing::TimelineView view;
  view.from = group.tracks->simulation.cycles / 2;
  view.to = view.from + 12000;
  const drawing::TimelineChart chart =
      drawing::timeline_chart(plan->program(), StepId(0), *group.tracks, view, sheet_of(look, {900, 0}));
  std::string tips;
  std::vector<StatementId> statements;
  for (const Shape& shape : chart.scene.shapes) {
    tips += shape.tip + "\n";
    if (shape.subject && shape.subject->statement) statements.push_back(*shape.subject->statement);
  }
  CHECK_THAT(tips, Catch::Contains("wait for get: get B") && Catch::Contains("filling: get A") &&
                       Catch::Contains("KiB; data move") && Catch::Contains("that are alike") &&
                       Catch::Contains("exposed DMA"));
  for (const StatementId statement : {StatementId(6), StatementId(7), StatementId(10)}) {  // get A, get B, compute
    CHECK(std::count(statements.begin(), statements.end(), statement) > 0);
  }
}

TEST_CASE("all launches of a network stand one behind another", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const SimulatedSteps steps = beside([&] { return simulate_steps(*plan, {}, {}); });
  REQUIRE(steps.size() == plan->steps.size());
  const std::vector<std::int64_t> starts = drawing::step_starts(steps);
  std::int64_t sum = 0;
  for (const StepId i : steps.ids()) {
    CHECK(steps[i].has_value() == (plan->steps[i].plan != nullptr));
    CHECK(starts[i.index()] == sum);
    sum += steps[i] ? steps[i]->cycles : 0;
  }
  Look look;
  const drawing::TimelineChart chart =
      drawing::program_timeline(plan->program(), steps, {}, std::nullopt, sheet_of(look, {1000, 0}));
  for (const StepId i : steps.ids()) {
    if (!steps[i]) continue;
    const auto box = std::find_if(chart.scene.shapes.begin(), chart.scene.shapes.end(), [&](const Shape& shape) {
      return shape.kind == Shape::Kind::box && shape.subject && shape.subject->step == i;
    });
    REQUIRE(box != chart.scene.shapes.end());
    const double scale = (chart.right - chart.left) / static_cast<double>(sum);
    CHECK(std::abs(box->box.x - chart.left - scale * static_cast<double>(starts[i.index()])) < 0.01);
    CHECK(std::abs(box->box.width - scale * static_cast<double>(steps[i]->cycles)) < 0.01);
  }
}

TEST_CASE("the timeline is zoomed and panned by keys, wheel and drags", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  TimelinePane& pane = open_timeline(window, "matmul", "matmul");
  TimelineView& view = pane.view();
  const std::int64_t all = pane.tracks()->simulation.cycles;
  CHECK(view.from() == 0);
  CHECK(view.to() == all);
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_W);
  QTest::keyClick(&view, Qt::Key_W);
  const std::int64_t shown = view.to() - view.from();
  CHECK(std::abs(static_cast<double>(shown) * 1.25 * 1.25 - static_cast<double>(all)) < 4);
  CHECK(view.from() > 0);
  const std::int64_t from = view.from();
  QTest::keyClick(&view, Qt::Key_D);
  CHECK(view.from() > from);
  CHECK(std::abs(view.to() - view.from() - shown) <= 1);
  for (int i = 0; i < 30; ++i) QTest::keyClick(&view, Qt::Key_A);
  CHECK(view.from() == 0);
  QTest::keyClick(&view, Qt::Key_S);
  CHECK(view.to() - view.from() > shown);
  QTest::keyClick(&view, Qt::Key_F);
  CHECK(view.to() - view.from() == all);

  QWidget* const port = view.viewport();
  const QPointF at(port->width() / 2.0, port->height() / 2.0);
  QWheelEvent wheel(at, port->mapToGlobal(at), {}, {0, 480}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(port, &wheel);
  CHECK(std::abs(4 * (view.to() - view.from()) - all) < 8);
  const std::int64_t before = view.from();
  QTest::mousePress(port, Qt::LeftButton, {}, at.toPoint());
  QTest::mouseMove(port, at.toPoint() - QPoint(50, 0));
  QTest::mouseMove(port, at.toPoint() - QPoint(100, 0));
  QTest::mouseRelease(port, Qt::LeftButton, {}, at.toPoint() - QPoint(100, 0));
  CHECK(view.from() > before);
  CHECK_FALSE(window.selection().subject().statement);  // a drag chooses nothing

  CHECK_FALSE(pane.statistics().isVisible());
  QTest::mousePress(port, Qt::LeftButton, Qt::ShiftModifier, at.toPoint());
  QTest::mouseMove(port, at.toPoint() + QPoint(60, 0));
  QTest::mouseRelease(port, Qt::LeftButton, Qt::ShiftModifier, at.toPoint() + QPoint(60, 0));
  CHECK(view.spanTo() > view.spanFrom());
  CHECK(pane.statistics().isVisible());
  CHECK_THAT(pane.statistics().text().toStdString(),
             Catch::Contains("wait for get") && Catch::Contains("transfers under way"));
  QTest::keyClick(&view, Qt::Key_Escape);
  CHECK_FALSE(pane.statistics().isVisible());
}

TEST_CASE("timeline and loops follow each other", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  TimelinePane& pane = open_timeline(window, "matmul", "matmul");
  const std::int64_t middle = pane.tracks()->simulation.cycles / 2;
  pane.view().showCycles(middle, middle + 12000);
  const auto mark =
      std::find_if(pane.view().drawing().marks.begin(), pane.view().drawing().marks.end(),
                   [](const Mark& one) { return one.subject && one.subject->statement == StatementId(10); });
  REQUIRE(mark != pane.view().drawing().marks.end());
  QTest::mouseClick(pane.view().viewport(), Qt::LeftButton, {}, mark->rect.center().toPoint());
  CHECK(window.selection().subject().statement == StatementId(10));
  const QImage chosen = pane.view().grab().toImage();
  window.selection().select(statement_subject(StepId(0), StatementId(7)));
  QCoreApplication::processEvents();
  pane.flush();
  CHECK(pane.view().grab().toImage() != chosen);  // what is chosen elsewhere is outlined here
  CHECK(pane.view().from() == middle);            // where one looks stays
}

TEST_CASE("the picture that the timeline's cursor moves through is that of what is looked at now", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  TimelinePane& pane = open_timeline(window, "matmul", "matmul");
  TimelineView& view = pane.view();
  const auto check_is_drawn = [&] {
    drawing::TimelineView wanted;
    wanted.from = view.from();
    wanted.to = view.to();
    wanted.core = pane.core().value();
    wanted.one_core = pane.oneCore().isChecked();
    wanted.span_from = view.spanFrom();
    wanted.span_to = view.spanTo();
    wanted.cursor = view.cursor();
    const Look& look = window.look();
    const Drawing& shown = view.drawing();
    const drawing::TimelineChart chart =
        drawing::timeline_chart(window.document().plan()->program(), StepId(0), *pane.tracks(), wanted,
                                sheet_of(look, {shown.size.width(), 0}));
    const auto told = [](const Drawing& drawing) {
      QStringList all;
      for (const Mark& mark : drawing.marks) {
        const QRectF at = mark.bounds();
        all << QStringLiteral("%1 %2 %3 %4 %5 %6 %7")
                   .arg(at.x())
                   .arg(at.y())
                   .arg(at.width())
                   .arg(at.height())
                   .arg(mark.fill.name(), mark.text, mark.tip);
      }
      all.sort();
      return all;
    };
    REQUIRE(told(shown) == told(drawn(chart.scene, look)));
  };
  const std::int64_t cycles = pane.tracks()->simulation.cycles;
  check_is_drawn();
  for (const std::int64_t cycle : {cycles / 3, cycles / 2, cycles}) {
    view.setCursorCycle(cycle);
    check_is_drawn();
  }
  view.zoom(3, view.width() * 0.5);
  check_is_drawn();
  view.pan(0.3);
  view.setCursorCycle(view.from() + 10);
  check_is_drawn();
  view.selectSpan(view.from() + 5, view.from() + 50);
  check_is_drawn();
  pane.oneCore().toggle();
  check_is_drawn();
  window.resize(1000, 700);
  QCoreApplication::processEvents();
  check_is_drawn();
  // Exports of other widths leave the window's picture as it is.
  const double right = view.axisRight();
  for (const double width : {500.0, 700.0, 900.0}) CHECK(pane.exportSize({width, 400}).width() == width);
  CHECK(view.axisRight() == right);
  view.setCursorCycle(view.from() + 20);
  check_is_drawn();
  view.setCursorCycle(-1);
  check_is_drawn();
}

/// Edges that a clipped painter draws differ by a rounding from those of a whole picture.
bool same_but_for_rounding(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return false;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      const QColor one = a.pixelColor(x, y);
      const QColor other = b.pixelColor(x, y);
      const int most = std::max({std::abs(one.red() - other.red()), std::abs(one.green() - other.green()),
                                 std::abs(one.blue() - other.blue())});
      if (most > 2) return false;
    }
  }
  return true;
}

TEST_CASE("where the timeline's cursor was and is, all is painted that it covers", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  TimelinePane& pane = open_timeline(window, "matmul", "matmul");
  TimelineView& view = pane.view();
  const std::int64_t cycles = pane.tracks()->simulation.cycles;
  const auto whole = [&] {
    QImage image(view.viewport()->size(), QImage::Format_ARGB32);
    view.viewport()->render(&image);
    return image;
  };
  const auto covered = [&] {
    QRegion region;
    const Drawing& drawing = view.drawing();
    for (std::size_t i = drawing.marks.size() - drawing.passing; i < drawing.marks.size(); ++i) {
      region += drawing.marks[i].painted().toAlignedRect();
    }
    return region;
  };
  CHECK(view.drawing().passing == 0);
  view.setCursorCycle(1);
  QCoreApplication::processEvents();  // what it is at takes its room below
  QImage image = whole();
  for (int i = 1; i <= 16; ++i) {
    const QRegion before = covered();
    view.setCursorCycle(cycles * i / 17);
    CHECK(view.drawing().passing > 0);
    const QImage now = whole();
    REQUIRE_FALSE(same_but_for_rounding(image, now));
    for (const QRect& part : before + covered()) {
      view.viewport()->render(&image, part.topLeft(), part);
    }
    REQUIRE(same_but_for_rounding(image, now));
  }
}

TEST_CASE("the timeline's cursor moves the LDM and its regions through time", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  TimelinePane& pane = open_timeline(window, "matmul", "matmul");
  auto& ldm = pane_of<LdmPane>(window, "ldm");
  TimelineView& view = pane.view();
  const TimelineTracks& tracks = *pane.tracks();
  const auto texts = [&] {
    window.raisePane("ldm");
    ldm.flush();
    QStringList all;
    for (const Mark& mark : ldm.scratchpad().drawing().marks) all << mark.text;
    return all;
  };
  const auto number_of = [&](const char* buffer) {
    const LoopNest& nest = window.document().plan()->steps[StepId(0)].plan->nest;
    for (const SlotId s : tracks.slots.ids()) {
      if (nest.buffers[tracks.slots[s].buffer].name == buffer) return s;
    }
    return tracks.slots.next_id();
  };
  CHECK_FALSE(window.selection().timeCursor());

  // A click sets it.
  window.raisePane("timeline");
  QWidget* const port = view.viewport();
  const QPoint middle(port->width() / 2, port->height() / 2);
  QTest::mouseClick(port, Qt::LeftButton, {}, middle);
  REQUIRE(window.selection().timeCursor());
  CHECK(std::abs(view.cursor() - tracks.simulation.cycles / 2) < tracks.simulation.cycles / 10);

  // In any cycle the map says what every slot is doing, and the sliders where the core is.
  const SlotId slot_of_b = number_of("B_ldm");
  std::set<std::string> seen;
  for (int tenth = 1; tenth < 60; ++tenth) {
    const std::int64_t cycle = tracks.simulation.cycles / 2 + tenth * 571;
    view.setCursorCycle(cycle);
    const QStringList shown = texts();
    const auto state = tracks.groups[0].slots[slot_of_b].at(cycle);
    const std::string word(state ? name_of(state->state) : "idle");
    seen.insert(word);
    CHECK(shown.contains(qt("cycle " + grouped_digits(cycle))));
    CHECK(shown.contains(qt(word)));
    const ExecutionPoint& point = window.selection().timeCursor()->point;
    for (const auto& [statement, trip] : point.trips) CHECK(ldm.sliders().position().trips.at(statement) == trip);
    const auto text = pane.statistics().text();
    CHECK(text.contains(QStringLiteral("ko = %1").arg(ldm.sliders().loop("ko")->value())));
  }
  CHECK(seen.size() >= 2);

  // Keys, and a drag of the line.
  window.raisePane("timeline");
  view.setFocus();
  const std::int64_t before = view.cursor();
  QTest::keyClick(&view, Qt::Key_Period);
  CHECK(view.cursor() > before);
  QTest::keyClick(&view, Qt::Key_Comma);
  CHECK(view.cursor() == before);
  QTest::keyClick(&view, Qt::Key_Greater);
  const std::int64_t change = view.cursor();
  CHECK(change > before);
  const auto states = [&](std::int64_t cycle) {
    std::string all;
    const CoreTracks& group = tracks.groups[0];
    if (const auto core = group.core.at(cycle)) all += name_of(core->state);
    for (const TimelineTrack& slot : group.slots) {
      const auto now = slot.at(cycle);
      all += now ? std::string(name_of(now->state)) : "idle";
    }
    return all;
  };
  CHECK(states(change - 1) != states(change));
  QTest::keyClick(&view, Qt::Key_Less);
  CHECK(view.cursor() < change);
  view.setCursorCycle(tracks.simulation.cycles / 2);
  const QPoint line(static_cast<int>(std::lround((view.axisLeft() + view.axisRight()) / 2)), middle.y());
  QTest::mousePress(port, Qt::LeftButton, {}, line);
  QTest::mouseMove(port, line + QPoint(60, 0));
  QTest::mouseRelease(port, Qt::LeftButton, {}, line + QPoint(60, 0));
  CHECK(view.cursor() > tracks.simulation.cycles / 2);
  CHECK(view.from() == 0);  // nothing was panned

  QTest::keyClick(&view, Qt::Key_Escape);
  CHECK(view.cursor() == -1);
  CHECK_FALSE(window.selection().timeCursor());
  for (const QString& text : texts()) CHECK_FALSE(text.startsWith(QStringLiteral("cycle ")));
}

TEST_CASE("the newest group is the one whose timeline comes", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  TimelinePane& pane = open_timeline(window, "lenet", "ip1");
  const PlanPtr plan = window.document().plan();
  const std::int64_t of_ip1 = pane.tracks()->simulation.cycles;
  for (const char* name : {"pool1", "pool2", "ip2"}) {
    window.selection().select(step_subject(step_named(*plan, name)));
    pane.flush();
  }
  REQUIRE(wait_until([&] { return !pane.working(); }));
  CHECK(pane.tracks()->simulation.cycles == simulated_group(plan, step_named(*plan, "ip2")).tracks->simulation.cycles);
  // What was simulated once is there at once.
  window.selection().select(step_subject(step_named(*plan, "ip1")));
  pane.flush();
  CHECK_FALSE(pane.working());
  REQUIRE(pane.tracks() != nullptr);
  CHECK(pane.tracks()->simulation.cycles == of_ip1);
}

TEST_CASE("a baseline stands below on the same scale", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  TimelinePane& pane = open_timeline(window, "lenet", "ip1");
  const double alone = pane.exportSize({900, 0}).height();
  window.document().showBaseline(sample_plan("lenet"));
  REQUIRE(wait_until([&] { return window.document().comparison() != nullptr; }));
  pane.settle();
  CHECK(pane.exportSize({900, 0}).height() > 1.9 * alone);
  int titles = 0;
  for (const Mark& mark : pane.view().drawing().marks) {
    titles += mark.text == QStringLiteral("Baseline: ip1") ? 1 : 0;
  }
  CHECK(titles == 1);
}

}  // namespace
}  // namespace stowage::test
