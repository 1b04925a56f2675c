// SPDX-License-Identifier: Apache-2.0
// The pictures that the report's page and the inspector share, as scenes and as SVG.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "driver/drawing/cost_bars.h"
#include "driver/drawing/ldm_map.h"
#include "driver/drawing/memory_chart.h"
#include "driver/drawing/program_timeline.h"
#include "driver/drawing/roofline.h"
#include "driver/drawing/timeline_chart.h"
#include "driver/page/report_page.h"
#include "driver/page/scene_svg.h"
#include "tests/driver/malformed.h"
#include "tests/driver/tool_runner.h"
#include "tests/fusion/net.h"

namespace stowage::test {
namespace {

using drawing::Align;
using drawing::Box;
using drawing::Font;
using drawing::Hatch;
using drawing::Ink;
using drawing::Scene;

Compilation compiled(const Graph& graph) {
  CompileRequest request;
  request.command_line = "stowage compile net.onnx";
  Diagnostics diagnostics;
  auto compilation = compile_graph(graph, request, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  return *std::move(compilation);
}

Graph tiny_net() {
  testing::Net net("tiny");
  const TensorId x = net.input("x", {64, 256});
  const TensorId product = net.op("MatMul", "product", {x, net.constant("w", {256, 128})});
  return net.done({net.op("Relu", "positive", {product})});
}

/// A chain whose operators and tensors are called so.
Graph chain_of(const std::vector<std::string>& names) {
  testing::Net net(names.front());
  TensorId x = net.input("x", {1, 16, 14, 14});
  for (const std::string& name : names) x = net.conv(name, x, 16);
  return net.done({x});
}

/// Of a step that has a plan.
TimelineTracks tracks_of(const Program& program, StepId step) {
  const LoopNest& nest = program.steps[step].plan()->nest;
  Timeline timeline;
  SimulationOptions options;
  options.timeline = &timeline;
  options.recording = Recording::with_repeats;
  const Simulated simulated = simulate(nest, program.target, options);
  REQUIRE(std::holds_alternative<Simulation>(simulated));
  return timeline_tracks(nest, std::get<Simulation>(simulated), std::move(timeline));
}

std::vector<Scene> timelines_of(const Program& program, const drawing::Sheet& sheet) {
  std::vector<Scene> scenes;
  IdVector<StepId, std::optional<Simulation>> simulated;
  for (const StepId i : program.steps.ids()) {
    simulated.push_back(std::nullopt);
    if (program.steps[i].plan() == nullptr) continue;
    const TimelineTracks tracks = tracks_of(program, i);
    drawing::TimelineView part;
    part.from = tracks.simulation.cycles / 3;
    part.to = part.from + 3000;
    for (const drawing::TimelineView& view : {drawing::TimelineView(), part}) {
      scenes.push_back(drawing::timeline_chart(program, i, tracks, view, sheet).scene);
    }
    simulated.back() = tracks.simulation;
  }
  scenes.push_back(drawing::program_timeline(program, simulated, {}, std::nullopt, sheet).scene);
  return scenes;
}

std::vector<Scene> pictures_of(const Program& program, const drawing::Sheet& sheet) {
  std::vector<Scene> scenes = {drawing::roofline(program, drawing::roofline_points(program), sheet),
                               drawing::cost_bars(program, "network", nullptr, sheet),
                               drawing::ldm_peaks(program, sheet), drawing::memory_chart(program, StepId(0), sheet)};
  for (const StepId i : program.steps.ids()) {
    if (program.steps[i].plan() == nullptr) continue;
    scenes.push_back(drawing::cost_bars(program, i, std::nullopt, sheet));
    scenes.push_back(drawing::ldm_map(program, i, sheet));
  }
  return scenes;
}

TEST_CASE("the pictures of a tiny plan") {
  const Compilation compilation = compiled(tiny_net());
  drawing::Sheet sheet = page_sheet(700, 300);
  sheet.titled = true;
  std::string text;
  for (const Scene& scene : pictures_of(compilation.program, sheet)) text += to_text(scene) + "\n";
  CHECK(text == golden("drawing-tiny.txt", text));
}

TEST_CASE("the timelines of a tiny plan") {
  const Compilation compilation = compiled(tiny_net());
  drawing::Sheet sheet = page_sheet(700, 0);
  sheet.titled = true;
  std::string text;
  for (const Scene& scene : timelines_of(compilation.program, sheet)) text += to_text(scene) + "\n";
  CHECK(text == golden("timeline-tiny.txt", text));
}

TEST_CASE("bars that are compared have the baseline's as a line, and the change in words") {
  const Compilation now = compiled(tiny_net());
  CompileRequest request;
  request.planner = "swtvm";
  Diagnostics diagnostics;
  const auto before = compile_graph(tiny_net(), request, diagnostics);
  REQUIRE(before);
  const Plan& plan = *before->program.steps[StepId(0)].plan();
  REQUIRE(plan.time.cycles != now.program.steps[StepId(0)].plan()->time.cycles);
  const drawing::Sheet sheet = page_sheet(700, 0);
  const Scene scene = drawing::cost_bars(now.program, StepId(0), drawing::CostBaseline{&plan}, sheet);
  const auto marks = [](const Scene& picture) {
    return std::count_if(picture.shapes.begin(), picture.shapes.end(),
                         [](const auto& shape) { return shape.tip == "the baseline's"; });
  };
  CHECK(marks(scene) == static_cast<std::ptrdiff_t>(now.program.steps[StepId(0)].plan()->time.terms.size() + 3));
  CHECK_THAT(to_text(scene), Catch::Contains("Δ is now minus before."));
  const std::string apart = to_text(drawing::cost_bars(now.program, StepId(0), drawing::CostBaseline{}, sheet));
  CHECK_THAT(apart, Catch::Contains("The baseline has these operators in other groups"));
  CHECK_THAT(apart, !Catch::Contains("Δ"));
  CHECK(marks(drawing::cost_bars(now.program, "tiny", &before->program, sheet)) >= 3);
}

TEST_CASE("no text of the page's pictures covers another or leaves its picture") {
  const Compilation compilation = compiled(chain_of({"first", "second", "a_third_with_quite_a_long_name", "last"}));
  std::size_t texts = 0;
  for (const double width : {480.0, 1000.0}) {
    const drawing::Sheet sheet = page_sheet(width, 340);
    std::vector<Scene> scenes = pictures_of(compilation.program, sheet);
    for (Scene& scene : timelines_of(compilation.program, sheet)) scenes.push_back(std::move(scene));
    for (const Scene& scene : scenes) {
      std::vector<const drawing::Shape*> seen;
      for (const drawing::Shape& shape : scene.shapes) {
        if (shape.kind != drawing::Shape::Kind::text || shape.text.empty()) continue;
        INFO(scene.title << ": '" << shape.text << "'");
        const Box& box = shape.box;
        CHECK((box.x >= -1 && box.y >= -1 && box.right() <= scene.width + 1 && box.bottom() <= scene.height + 1));
        for (const drawing::Shape* other : seen) {
          INFO("and '" << other->text << "'");
          const Box inner{box.x + 1.3, box.y + 1.3, box.width - 2.6, box.height - 2.6};
          CHECK_FALSE(inner.overlaps(other->box));
        }
        seen.push_back(&shape);
        ++texts;
      }
    }
  }
  CHECK(texts > 200);
}

TEST_CASE("what is far below others on the map of the LDM is still to be seen") {
  const Compilation compilation = compiled(tiny_net());
  const Scene scene = drawing::ldm_map(compilation.program, StepId(0), page_sheet(700, 300));
  const std::size_t buffers = compilation.program.steps[StepId(0)].plan()->nest.buffers.size();
  std::vector<bool> seen(buffers, false);
  for (const drawing::Shape& shape : scene.shapes) {
    if (shape.kind != drawing::Shape::Kind::box || !shape.subject || !shape.subject->buffer) continue;
    seen[shape.subject->buffer->index()] = true;
    CHECK(shape.box.height >= 8);
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == static_cast<std::ptrdiff_t>(buffers));
}

TEST_CASE("names that look like markup stay text in pictures") {
  Scene scene;
  scene.title = "<script>\"'&";
  scene.width = 100;
  scene.height = 50;
  scene.box({0, 0, 10, 10}, Ink::get, Ink::line).tip = "</title><b>\n&";
  scene.text({0, 20, 90, 12}, "]]><i>\x01", Ink::muted, Font::small);
  scene.shapes.back().subject = drawing::Subject{.step = StepId(3)};
  const std::string svg = to_svg(scene, [](const auto&) { return std::string("#\"><x"); });
  CHECK(malformed(svg).empty());
  CHECK(svg ==
        "<svg class=\"scene\" viewBox=\"0 0 100 50\" role=\"group\" "
        "aria-label=\"&lt;script&gt;&quot;&#39;&amp;\">\n"
        "<rect x=\"0\" y=\"0\" width=\"10\" height=\"10\" class=\"get o-line\"><title>&lt;/title&gt;&lt;b&gt;\n"
        "&amp;</title></rect>\n"
        "<a href=\"#&quot;&gt;&lt;x\"><text x=\"0\" y=\"29.9\" class=\"muted\">]]&gt;&lt;i&gt;</text></a>\n"
        "</svg>\n");
  const Compilation compilation = compiled(chain_of({"</svg><script>alert(1)</script>", "\"onload=\"x", "a & b < c"}));
  for (const Scene& picture : pictures_of(compilation.program, page_sheet(600, 300))) {
    const std::string drawn = to_svg(picture);
    INFO(picture.title);
    CHECK(malformed(drawn).empty());
    CHECK(drawn.find("<script") == std::string::npos);
  }
}

TEST_CASE("the page's style has a rule for every ink and font of its pictures") {
  const std::string page = report_page(compiled(tiny_net()), {});
  for (int i = 1; i < drawing::ink_count; ++i) {
    const std::string name(name_of(static_cast<Ink>(i)));
    INFO(name);
    const bool of_lines = page.find(".scene .o-" + name + " { stroke: var(--") != std::string::npos;
    const bool of_areas = page.find(".scene ." + name + " { fill: var(--") != std::string::npos;
    CHECK((of_lines || of_areas));
  }
  for (const char* part : {".scene .usual {", ".scene .title {", ".scene .centred {", ".scene .ends {", ".scene .on {",
                           ".scene .hatch {", ".scene .dots {", ".scene .dashes {"}) {
    INFO(part);
    CHECK(page.find(part) != std::string::npos);
  }
}

TEST_CASE("every colour that a picture's SVG names has its rule") {
  const Compilation compilation = compiled(chain_of({"one", "two", "three"}));
  const std::string page = report_page(compilation, {});
  std::size_t classes = 0;
  for (const Scene& scene : pictures_of(compilation.program, page_sheet(900, 300))) {
    const std::string svg = to_svg(scene);
    for (std::size_t at = 0; (at = svg.find("class=\"", at)) != std::string::npos;) {
      at += 7;
      const std::string names = svg.substr(at, svg.find('"', at) - at) + " ";
      for (std::size_t from = 0; from < names.size(); from = names.find(' ', from) + 1) {
        const std::string name = names.substr(from, names.find(' ', from) - from);
        if (name == "scene") continue;
        INFO(name);
        const bool found = page.find(".scene ." + name + " {") != std::string::npos ||
                           page.find(".scene text." + name + " {") != std::string::npos;
        CHECK(found);
        ++classes;
      }
    }
  }
  CHECK(classes > 100);
}

TEST_CASE("texts are cut where they do not fit, and broken where they may be") {
  const auto measure = [](const std::string& text) {
    return static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  };
  CHECK(drawing::elided("abcdef", 6, drawing::Cut::end, measure) == "abcdef");
  CHECK(drawing::elided("abcdef", 5, drawing::Cut::end, measure) == "abcd…");
  CHECK(drawing::elided("abcdef", 5, drawing::Cut::middle, measure) == "ab…ef");
  CHECK(drawing::elided("äöüß", 3, drawing::Cut::middle, measure) == "ä…ß");
  CHECK(drawing::elided("abc", 0, drawing::Cut::end, measure) == "…");
  using Lines = std::vector<std::string>;
  CHECK(drawing::wrapped("one two three", 7, measure) == Lines{"one two", "three"});
  CHECK(drawing::wrapped("x abcdefgh y", 4, measure) == Lines{"x", "abcd", "efgh", "y"});
  CHECK(drawing::wrapped("", 3, measure) == Lines{""});
  CHECK(drawing::wrapped("äöüß", 1, measure) == Lines{"ä", "ö", "ü", "ß"});
}

TEST_CASE("hatching stays inside of its box") {
  const Box box{10, 20, 30, 12};
  CHECK(drawing::hatching(box, Hatch::none).empty());
  const auto rising = drawing::hatching(box, Hatch::rising);
  CHECK(rising.size() == 6);
  CHECK(drawing::hatching(box, Hatch::crossed).size() == 12);
  for (const auto& [from, to] : drawing::hatching(box, Hatch::crossed)) {
    for (const drawing::Point& end : {from, to}) {
      CHECK((end.x >= box.x && end.x <= box.right() && end.y >= box.y && end.y <= box.bottom()));
    }
  }
}

}  // namespace
}  // namespace stowage::test
