// SPDX-License-Identifier: Apache-2.0
#include "inspector/graph/graph_colours.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/template_names.h"
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
std::int64_t change_at(const PlanComparison* comparison, StepId step) {
  const GroupChange* change = comparison != nullptr ? comparison->change_of(step) : nullptr;
  return change != nullptr ? change->numbers_after.cycles - change->numbers_before.cycles : 0;
}

std::int64_t largest_change(const PlanComparison* comparison) {
  std::int64_t largest = 0;
  if (comparison == nullptr) return 0;
  for (const StepId step : comparison->change_of_step.ids()) {
    largest = std::max(largest, std::abs(change_at(comparison, step)));
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

IdVector<StepId, NodeColour> graph_colours(const LoadedPlan& plan, GraphMetric metric, const Theme& theme,
                                           const PlanComparison* comparison) {
  IdVector<StepId, NodeColour> colours;
  if (metric == GraphMetric::change) {
    const auto largest = static_cast<double>(std::max<std::int64_t>(largest_change(comparison), 1));
    for (const StepId step : plan.steps.ids()) {
      const auto change = static_cast<double>(change_at(comparison, step));
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

namespace {

/// A legend as it is written, from left to right and on the next line where there is no room.
class Legend {
 public:
  Legend(const LoadedPlan& plan, GraphMetric metric, const Look& look, double width)
      : plan_(plan),
        metric_(metric),
        look_(look),
        metrics_(look.smallFont()),
        row_(metrics_.height() + 4),
        width_(width) {}

  Drawing run(const PlanComparison* comparison) {
    if (metric_ == GraphMetric::fusion_template) {
      add_templates();
    } else if (metric_ == GraphMetric::change) {
      add_changes(comparison);
    } else {
      add_heat();
    }
    drawing_.size = {std::max(width_, x_ + 4), y_ + row_ + 4};
    return std::move(drawing_);
  }

 private:
  [[nodiscard]] const Theme& theme() const { return look_.theme(); }

  void text(const QString& text, const QColor& color) {
    const double room = metrics_.horizontalAdvance(text) + 2;
    drawing_.text({x_, y_, room, row_}, text, color, look_.smallFont());
    x_ += room + 6;
  }

  void break_before(double room) {
    if (x_ <= left || x_ + room <= width_) return;
    x_ = left;
    y_ += row_;
  }

  /// Colours side by side, from a function of 0 to 1.
  template <class Colour>
  void scale(int steps, const QColor& line, Qt::PenStyle pen, const Colour& colour) {
    constexpr double wide = 5;
    for (int i = 0; i < steps; ++i) {
      drawing_.rect({x_ + i * wide, y_ + 3, wide + 0.2, row_ - 6}, colour((i + 0.5) / steps));
    }
    drawing_.rect({x_, y_ + 3, steps * wide, row_ - 6}, QColor(), line).pen = pen;
    x_ += steps * wide + 6;
  }

  void add_templates() {
    std::vector<std::string> names;
    for (const StepFacts& step : plan_.steps) {
      const std::string& name = step.step->group.template_name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    const double box = metrics_.ascent() + 6;
    for (const std::string& name : names) {
      const QString shown = name == single_template ? QStringLiteral("alone") : qt(name);
      break_before(box + metrics_.horizontalAdvance(shown) + 8);
      const NodeColour colour = colour_of_template(name, theme());
      Mark& key = drawing_.rect({x_, y_ + 3, box, row_ - 6}, colour.fill, theme().text);
      key.pen = colour.pen;
      key.pattern = colour.pen == Qt::SolidLine  ? Qt::SolidPattern
                    : colour.pen == Qt::DashLine ? Qt::BDiagPattern
                                                 : Qt::DiagCrossPattern;
      x_ += box + 5;
      text(shown, theme().text);
      x_ += 8;
    }
  }

  void add_changes(const PlanComparison* comparison) {
    if (comparison == nullptr) text(QStringLiteral("nothing to compare with: open a baseline"), theme().muted);
    const QString maximum = full_time_text(largest_change(comparison), plan_.program().target.clock_hz, look_.units());
    add_change(QStringLiteral("faster:"), -1, QStringLiteral("−") + maximum, QStringLiteral("0"));
    add_change(QStringLiteral("slower (dashed):"), 1, QStringLiteral("0"), QStringLiteral("+") + maximum);
  }

  void add_change(const QString& what, double sign, const QString& from, const QString& to) {
    double room = 60 + 6;
    for (const QString& each : {what, from, to}) room += metrics_.horizontalAdvance(each) + 8;
    break_before(room);
    text(what, theme().text);
    text(from, theme().muted);
    scale(12, theme().text, colour_of_change(sign, theme()).pen,
          [&](double share) { return colour_of_change(sign * (sign < 0 ? 1 - share : share), theme()).fill; });
    text(to, theme().muted);
    x_ += 8;
  }

  void add_heat() {
    const std::int64_t top = top_of(plan_, metric_);
    text(metric_ == GraphMetric::time        ? QStringLiteral("time of a fused operator:")
         : metric_ == GraphMetric::dma_bytes ? QStringLiteral("DMA bytes of a fused operator:")
                                             : QStringLiteral("LDM peak of a fused operator:"),
         theme().text);
    text(QStringLiteral("0"), theme().muted);
    scale(24, theme().line, Qt::SolidLine, [&](double share) { return theme().heat(share); });
    const QString maximum = metric_ == GraphMetric::time
                                ? full_time_text(top, plan_.program().target.clock_hz, look_.units())
                                : size_text(top, look_.units());
    text(maximum + (metric_ == GraphMetric::ldm ? QStringLiteral(" (all of it)") : QStringLiteral(" (the largest)")),
         theme().muted);
  }

  static constexpr double left = 8;
  const LoadedPlan& plan_;
  GraphMetric metric_;
  const Look& look_;
  QFontMetricsF metrics_;
  double row_;
  double width_;
  double x_ = left;
  double y_ = 4;
  Drawing drawing_;
};

}  // namespace

Drawing graph_legend(const LoadedPlan& plan, GraphMetric metric, const Look& look, double width,
                     const PlanComparison* comparison) {
  return Legend(plan, metric, look, width).run(comparison);
}

}  // namespace stowage::inspector
