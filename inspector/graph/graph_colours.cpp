// SPDX-License-Identifier: Apache-2.0
#include "inspector/graph/graph_colours.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "emitter/pictures/template_palette.h"
#include "lowering/model/ldm_room.h"

namespace stowage::inspector {

namespace {

std::int64_t value_of(const StepFacts& step, GraphMetric metric) {
  if (step.plan == nullptr) return 0;
  switch (metric) {
    case GraphMetric::fusion_template:
    case GraphMetric::change: return 0;
    case GraphMetric::time: return step.cycles;
    case GraphMetric::dma_bytes: return step.dma.bytes;
    case GraphMetric::ldm: return step.plan->nest.ldm_bytes;
  }
  return 0;
}

std::int64_t top_of(const LoadedPlan& plan, GraphMetric metric) {
  if (metric == GraphMetric::ldm) return ldm_for_buffers(plan.program());
  std::int64_t top = 0;
  for (const StepFacts& step : plan.steps) top = std::max(top, value_of(step, metric));
  return top;
}

NodeColour colour_of_template(const std::string& name, const Theme& theme) {
  const TemplateLook look = look_of_template(name);
  QColor fill(qt(look.fill));
  // The scheme is made for light pages; on a dark one the same hues stand back.
  if (theme.dark)
    fill = QColor::fromHslF(fill.hslHueF() < 0 ? 0 : fill.hslHueF(), fill.hslSaturationF() * 0.45F, 0.33F);
  switch (look.border) {
    case TemplateLook::Border::solid: return {fill, Qt::SolidLine};
    case TemplateLook::Border::dashed: return {fill, Qt::DashLine};
    case TemplateLook::Border::dotted: return {fill, Qt::DotLine};
  }
  return {fill};
}

/// Cycles that a step's change costs; 0 where nothing is compared.
std::int64_t change_at(const PlanComparison* comparison, int step) {
  const GroupChange* change = comparison != nullptr ? comparison->change_of(step) : nullptr;
  return change != nullptr ? change->numbers_after.cycles - change->numbers_before.cycles : 0;
}

std::int64_t largest_change(const PlanComparison* comparison) {
  std::int64_t largest = 0;
  if (comparison == nullptr) return 0;
  for (std::size_t step = 0; step < comparison->change_of_step.size(); ++step) {
    largest = std::max(largest, std::abs(change_at(comparison, static_cast<int>(step))));
  }
  return largest;
}

/// From -1, the largest gain, over 0 to 1, the largest loss. Losses are dashed, so that colour is not alone.
NodeColour colour_of_change(double share, const Theme& theme) {
  if (share == 0) return {theme.raised, Qt::SolidLine};
  const QColor full = theme.category(share < 0 ? 2 : 1);
  const double weight = 0.25 + 0.75 * std::sqrt(std::min(std::abs(share), 1.0));  // small ones are to be seen too
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * weight)); };
  const QColor fill(mix(theme.base.red(), full.red()), mix(theme.base.green(), full.green()),
                    mix(theme.base.blue(), full.blue()));
  return {fill, share < 0 ? Qt::SolidLine : Qt::DashLine};
}

}  // namespace

std::vector<NodeColour> graph_colours(const LoadedPlan& plan, GraphMetric metric, const Theme& theme,
                                      const PlanComparison* comparison) {
  std::vector<NodeColour> colours;
  if (metric == GraphMetric::change) {
    const auto largest = static_cast<double>(std::max<std::int64_t>(largest_change(comparison), 1));
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      const auto change = static_cast<double>(change_at(comparison, static_cast<int>(step)));
      colours.push_back(colour_of_change(change / largest, theme));
    }
    return colours;
  }
  const auto top = static_cast<double>(top_of(plan, metric));
  for (const StepFacts& step : plan.steps) {
    if (metric == GraphMetric::fusion_template) {
      colours.push_back(colour_of_template(step.step->group.template_name, theme));
    } else {
      colours.push_back({theme.heat(top > 0 ? static_cast<double>(value_of(step, metric)) / top : 0)});
    }
  }
  return colours;
}

Drawing graph_legend(const LoadedPlan& plan, GraphMetric metric, const Look& look, double width,
                     const PlanComparison* comparison) {
  Drawing drawing;
  const Theme& theme = look.theme();
  const QFontMetricsF metrics(look.smallFont());
  const double row = metrics.height() + 4;
  const double box = metrics.ascent() + 6;
  double x = 8;
  double y = 4;
  const auto add_text = [&](const QString& text, const QColor& color) {
    const double room = metrics.horizontalAdvance(text) + 2;
    drawing.text({x, y, room, row}, text, color, look.smallFont());
    x += room + 6;
  };
  if (metric == GraphMetric::fusion_template) {
    std::vector<std::string> names;
    for (const StepFacts& step : plan.steps) {
      const std::string& name = step.step->group.template_name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const std::string& name : names) {
      const QString text = name == "single" ? QStringLiteral("alone") : qt(name);
      if (x > 8 && x + box + metrics.horizontalAdvance(text) + 8 > width) {
        x = 8;
        y += row;
      }
      const NodeColour colour = colour_of_template(name, theme);
      Mark& key = drawing.rect({x, y + 3, box, row - 6}, colour.fill, theme.text);
      key.pen = colour.pen;
      key.pattern = colour.pen == Qt::SolidLine  ? Qt::SolidPattern
                    : colour.pen == Qt::DashLine ? Qt::BDiagPattern
                                                 : Qt::DiagCrossPattern;
      x += box + 5;
      add_text(text, theme.text);
      x += 8;
    }
  } else if (metric == GraphMetric::change) {
    const QString maximum = full_time_text(largest_change(comparison), plan.program().target.clock_hz, look.units());
    if (comparison == nullptr) add_text(QStringLiteral("nothing to compare with: open a baseline"), theme.muted);
    const auto scale = [&](const QString& what, double sign, const QString& left, const QString& right) {
      double wide = 60 + 6;
      for (const QString& text : {what, left, right}) wide += metrics.horizontalAdvance(text) + 8;
      if (x > 8 && x + wide > width) {
        x = 8;
        y += row;
      }
      add_text(what, theme.text);
      add_text(left, theme.muted);
      constexpr int steps = 12;
      for (int i = 0; i < steps; ++i) {
        const double share = (i + 0.5) / steps;
        drawing.rect({x + i * 5.0, y + 3, 5.2, row - 6},
                     colour_of_change(sign * (sign < 0 ? 1 - share : share), theme).fill);
      }
      drawing.rect({x, y + 3, steps * 5.0, row - 6}, QColor(), theme.text).pen = colour_of_change(sign, theme).pen;
      x += steps * 5.0 + 6;
      add_text(right, theme.muted);
      x += 8;
    };
    scale(QStringLiteral("faster:"), -1, QStringLiteral("−") + maximum, QStringLiteral("0"));
    scale(QStringLiteral("slower (dashed):"), 1, QStringLiteral("0"), QStringLiteral("+") + maximum);
  } else {
    const std::int64_t top = top_of(plan, metric);
    const double clock = plan.program().target.clock_hz;
    const QString what = metric == GraphMetric::time        ? QStringLiteral("time of a fused operator")
                         : metric == GraphMetric::dma_bytes ? QStringLiteral("DMA bytes of a fused operator")
                                                            : QStringLiteral("LDM peak of a fused operator");
    const QString maximum =
        metric == GraphMetric::time ? full_time_text(top, clock, look.units()) : size_text(top, look.units());
    add_text(what + QLatin1Char(':'), theme.text);
    add_text(QStringLiteral("0"), theme.muted);
    constexpr int steps = 24;
    for (int i = 0; i < steps; ++i) {
      drawing.rect({x + i * 5.0, y + 3, 5.2, row - 6}, theme.heat((i + 0.5) / steps));
    }
    drawing.rect({x, y + 3, steps * 5.0, row - 6}, QColor(), theme.line);
    x += steps * 5.0 + 6;
    add_text(maximum + (metric == GraphMetric::ldm ? QStringLiteral(" (all of it)") : QStringLiteral(" (the largest)")),
             theme.muted);
  }
  drawing.size = {std::max(width, x + 4), y + row + 4};
  return drawing;
}

}  // namespace stowage::inspector
