// SPDX-License-Identifier: Apache-2.0
// The page's pictures (driver/drawing): roofline, costs, scratchpad, main memory.
#include <optional>
#include <vector>

#include "driver/drawing/cost_bars.h"
#include "driver/drawing/ldm_map.h"
#include "driver/drawing/memory_chart.h"
#include "driver/drawing/roofline.h"
#include "driver/page/page_parts.h"
#include "driver/page/scene_svg.h"
#include "driver/report/model_comparison.h"

namespace stowage {

namespace {

constexpr double chart_width = 1000;

/// To the sections of the fused operators that are told in full.
LinkOf links_of(const PageScope& scope) {
  return [&scope](const drawing::Subject& subject) {
    return subject.step && scope.has(*subject.step) ? "#" + anchor_of(*subject.step) : "";
  };
}

}  // namespace

std::string roofline_chart(const PageScope& scope) {
  const Program& program = scope.program();
  std::vector<drawing::RooflinePoint> points = drawing::roofline_points(program);
  std::erase_if(points, [&](const auto& point) { return !scope.has(point.step); });
  if (points.empty()) {
    return "<p>No fused operator computes and moves data.</p>\n";
  }
  return to_svg(drawing::roofline(program, points, page_sheet(chart_width, 440)), links_of(scope));
}

std::string cost_chart(const PageScope& scope, StepId step) {
  return to_svg(
      drawing::cost_bars(scope.program(), step, std::nullopt, page_sheet(chart_width, 0),
                         scope.simulated().empty() ? drawing::SimulatedTerms() : scope.simulated()[step].terms));
}

std::string cost_chart(const PageScope& scope) {
  return to_svg(drawing::cost_bars(scope.program(), scope.compilation().network, nullptr, page_sheet(chart_width, 0),
                                   sum_of_terms(scope.simulated())));
}

std::string ldm_chart(const Program& program, StepId step) {
  return to_svg(drawing::ldm_map(program, step, page_sheet(chart_width, 340)));
}

std::string memory_chart(const PageScope& scope) {
  if (scope.program().memory.activation_bytes == 0) return "<p>No activation is in main memory.</p>\n";
  const auto wanted = [&](TensorId tensor) { return scope.has(tensor); };
  return to_svg(drawing::memory_chart(scope.program(), std::nullopt, page_sheet(chart_width, 400), wanted),
                links_of(scope));
}

}  // namespace stowage
