// SPDX-License-Identifier: Apache-2.0
#include "driver/sensitivity/curve_page.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/drawing/sweep_chart.h"
#include "driver/page/page_parts.h"
#include "driver/page/scene_svg.h"
#include "driver/sensitivity/curve_tables.h"

namespace stowage {

namespace {

/// One amount of every plan.
struct Amount {
  std::string name;
  std::function<double(const PlanNumbers&)> of;
  std::function<std::string(const PlanNumbers&)> text;
  bool CurveKnee::*bends = nullptr;  ///< of knees, whether they are its; null: it has none
};

drawing::SweepLine line_of(const Curve& curve, const Amount& amount) {
  drawing::SweepLine line{amount.name, {}, std::vector<std::size_t>{}};
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (!point.numbers) continue;
    for (const CurveKnee& knee : curve.knees) {
      if (knee.point == i && amount.bends != nullptr && knee.*(amount.bends)) line.rings->push_back(line.points.size());
    }
    line.points.push_back(
        {point.number, amount.of(*point.numbers),
         fmt::format("{} = {}\n{}: {}", curve.key, point.value.toml, amount.name, amount.text(*point.numbers)),
         static_cast<int>(i)});
  }
  return line;
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string html = "<ul>\n";
  for (const std::string& line : lines) html += fmt::format("<li>{}</li>\n", escaped(line));
  return html + "</ul>\n";
}

/// The plan's own value, where it is among the others.
void add_own(const Curve& curve, std::vector<drawing::SweepMark>& marks) {
  if (curve.own < curve.points.front().number || curve.own > curve.points.back().number) return;
  const auto at = std::find_if(marks.begin(), marks.end(), [&](const auto& mark) { return mark.value >= curve.own; });
  if (at != marks.end() && at->value == curve.own) {
    at->label += ", plan";
  } else {
    marks.insert(at, {curve.own, "plan", fmt::format("{} of the plan itself", curve.key)});
  }
}

}  // namespace

drawing::Scene curve_chart(const Curve& curve, const drawing::Sheet& sheet) {
  const std::vector<Amount> amounts = {
      {"time", [](const PlanNumbers& n) { return n.seconds; },
       [](const PlanNumbers& n) { return seconds_text(n.seconds); }, &CurveKnee::of_time},
      {"DMA bytes", [](const PlanNumbers& n) { return static_cast<double>(n.bytes); },
       [](const PlanNumbers& n) { return bytes_text(n.bytes); }, &CurveKnee::of_bytes},
      {"LDM peak", [](const PlanNumbers& n) { return static_cast<double>(n.ldm_bytes); },
       [](const PlanNumbers& n) { return ldm_bytes_text(n.ldm_bytes); }},
      {"fused operators", [](const PlanNumbers& n) { return static_cast<double>(n.groups); },
       [](const PlanNumbers& n) { return grouped_digits(n.groups); }},
  };
  std::vector<drawing::SweepLine> lines;
  for (const Amount& amount : amounts) lines.push_back(line_of(curve, amount));
  drawing::SweepNotes notes{"What the network takes against " + curve.key,
                            "Each line is a part of its own largest amount. Rings and numbers mark knees, 'plan' the "
                            "plan's own value, a cross a value without a plan.",
                            {},
                            {}};
  for (std::size_t k = 0; k < curve.knees.size(); ++k) {
    const CurveKnee& knee = curve.knees[k];
    notes.upright.push_back({curve.points[knee.point].number, std::to_string(k + 1), knee.words});
  }
  add_own(curve, notes.upright);
  for (const CurvePoint& point : curve.points) {
    if (!point.numbers)
      notes.crosses.push_back(
          {point.number, "", fmt::format("{} = {}\n{}", curve.key, point.value.toml, point.refusal)});
  }
  return drawing::sweep_chart(curve.key, lines, notes, sheet);
}

std::string curve_page(const Curve& curve, const std::string& command_line, const std::string& reproducer) {
  constexpr double chart_width = 1000;
  constexpr double chart_height = 400;
  std::string html = html_head("Sensitivity") +
                     fmt::format(
                         "<h1>{} against {}</h1>\n<p>Fused by {}, planned by {}, for target {}.</p>\n"
                         "<p class=\"origin\"><code>{}</code><br/><code>{}</code></p>\n",
                         escaped(curve.network), escaped(curve.key), escaped(curve.fusion), escaped(curve.planner),
                         escaped(curve.target), escaped(command_line), escaped(reproducer));
  html += "<figure>" + to_svg(curve_chart(curve, page_sheet(chart_width, chart_height))) + "</figure>\n";
  html += "<h2>Knees</h2>\n" + list_of(knee_lines(curve));
  html += "<h2>Values</h2>\n" +
          html_table(curve_table(curve), {"value", "groups", "dma_transfers", "dma_bytes", "ldm_peak_bytes", "cycles",
                                          "time_s", "knee", "changes", "refused"});
  return html + html_foot();
}

}  // namespace stowage
