// SPDX-License-Identifier: Apache-2.0
#include "inspector/cost/cost_chart.h"

#include <QFontMetricsF>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "inspector/draw/wrapped_text.h"

namespace stowage::inspector {

namespace {

constexpr double margin = 14;

/// Colour of a term by what it spends its time on.
int category_of(CostKind kind) {
  switch (kind) {
    case CostKind::launch: return 7;
    case CostKind::get: return 5;
    case CostKind::compute: return 2;
    case CostKind::fill: return 3;
    case CostKind::put: return 1;
  }
  return 2;
}

struct Bar {
  QString name;
  /// In columns, each to the right: what it comes to, its share, its change.
  std::array<QString, 3> numbers;
  QString remark;
  double share = 0;  ///< of the longest bar's whole
  int category = 0;
  std::optional<Place> place;
  std::optional<double> before = std::nullopt;  ///< the baseline's share, on the same scale
};

/// "Δ −1 234", behind a number that is compared.
QString change_text(std::int64_t change, const QString& size) {
  if (change == 0) return QStringLiteral("Δ –");
  return QStringLiteral("Δ ") + (change > 0 ? QStringLiteral("+") : QStringLiteral("−")) + size;
}

/// Names, bars and numbers, each with a remark below it. Returns the height used.
double add_bars(Drawing& drawing, const Look& look, double top, double width, const std::vector<Bar>& bars) {
  const Theme& theme = look.theme();
  const QFontMetricsF text(look.textFont());
  const QFontMetricsF small(look.smallFont());
  double names = 0;
  std::array<double, 3> columns = {};
  for (const Bar& bar : bars) {
    names = std::max(names, text.horizontalAdvance(bar.name));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c] = std::max(columns[c], text.horizontalAdvance(bar.numbers[c]));
    }
  }
  constexpr double gap = 12;
  double numbers = 0;
  for (const double column : columns) numbers += column > 0 ? column + gap : 0;
  names = std::min(names + 6, width * 0.35);
  const double left = margin + names + 6;
  const double room = std::max(40.0, width - left - numbers - 2 * margin);
  double y = top;
  for (const Bar& bar : bars) {
    const double row = text.height() + 4;
    drawing.text({margin, y, names, row}, bar.name, theme.text, look.textFont());
    Mark& mark = drawing.rect({left, y + 3, std::max(1.0, room * bar.share), row - 6}, theme.category(bar.category));
    mark.tip = bar.name + QStringLiteral(": ") +
               QStringList(bar.numbers.begin(), bar.numbers.end()).join(QStringLiteral("   ")).trimmed() +
               QLatin1Char('\n') + bar.remark;
    mark.place = bar.place;
    if (bar.before) {
      const double x = left + room * std::min(*bar.before, 1.0);
      drawing.line({x, y + 1}, {x, y + row - 1}, theme.text, 2).tip = QStringLiteral("the baseline's");
    }
    double x = left + room;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] <= 0) continue;
      x += gap + columns[c];
      if (bar.numbers[c].isEmpty()) continue;
      drawing.text({x - columns[c] - 2, y, columns[c] + 2, row}, bar.numbers[c], theme.text, look.textFont(),
                   Qt::AlignRight | Qt::AlignVCenter);
    }
    y += row;
    if (bar.remark.isEmpty()) continue;
    for (const QString& line : wrapped(bar.remark, look.smallFont(), width - left - margin)) {
      drawing.text({left, y - 1, width - left - margin, small.height()}, line, theme.muted, look.smallFont());
      y += small.height();
    }
    y += 4;
  }
  return y - top;
}

double add_heading(Drawing& drawing, const Look& look, double y, double width, const QString& title) {
  const double height = QFontMetricsF(look.titleFont()).height() + 4;
  drawing.text({margin, y, width - 2 * margin, height}, title, look.theme().text, look.titleFont());
  return height + 2;
}

/// What one bar of the time shows.
struct TermBar {
  QString name;
  CostKind kind = CostKind::compute;
  std::int64_t cycles = 0;
  QString remark;
  std::optional<std::int64_t> before;  ///< the baseline's
};

std::map<CostKind, std::int64_t> cycles_by_kind(const LoadedPlan& plan) {
  std::map<CostKind, std::int64_t> sums;
  for (const StepFacts& each : plan.steps) {
    if (each.plan == nullptr) continue;
    for (const auto& [kind, cycles] : stowage::cycles_by_kind(each.plan->time)) sums[kind] += cycles;
  }
  return sums;
}

/// The terms of a step; `before` is the same group's plan in the baseline, if there is one.
std::vector<TermBar> terms_of(const Plan& plan, const Plan* before) {
  std::vector<TermBar> terms;
  for (const TimeTerm& term : plan.time.terms) {
    const QString remark =
        qt(formula_text(term.cost)) + QStringLiteral("    [") + qt(source_of(term.cost)) + QStringLiteral("]");
    terms.push_back({qt(name_of(term.cost)), kind_of(term.cost), term.cycles, remark, std::nullopt});
    if (before != nullptr) terms.back().before = cycles_of_term(before->time, term.cost);
  }
  return terms;
}

/// The kinds of term of a network.
std::vector<TermBar> terms_of(const LoadedPlan& plan, const LoadedPlan* before) {
  const std::map<CostKind, std::int64_t> then =
      before != nullptr ? cycles_by_kind(*before) : std::map<CostKind, std::int64_t>();
  std::vector<TermBar> terms;
  for (const auto& [kind, cycles] : cycles_by_kind(plan)) {
    terms.push_back({QString::fromUtf8(name_of(kind).data(), static_cast<qsizetype>(name_of(kind).size())),
                     kind,
                     cycles,
                     {},
                     std::nullopt});
    const auto found = then.find(kind);
    if (before != nullptr) terms.back().before = found != then.end() ? found->second : 0;
  }
  return terms;
}

/// `then` is what all of the baseline takes, on whose scale the bars are drawn too.
std::vector<Bar> term_bars(const std::vector<TermBar>& terms, std::int64_t cycles, std::optional<std::int64_t> then,
                           double clock, const Look& look) {
  std::vector<Bar> bars;
  const auto now = static_cast<double>(std::max<std::int64_t>(1, cycles));
  const double whole = std::max(now, static_cast<double>(then.value_or(0)));  // one scale for both
  for (const TermBar& term : terms) {
    const auto size = static_cast<double>(term.cycles);
    std::array<QString, 3> numbers = {time_text(term.cycles, clock, look.units()), percent_text(size / now), {}};
    std::optional<double> line;
    if (term.before) {
      const std::int64_t change = term.cycles - *term.before;
      numbers[2] = change_text(change, time_text(std::abs(change), clock, look.units()));
      line = static_cast<double>(*term.before) / whole;
    }
    bars.push_back(
        {term.name, std::move(numbers), term.remark, size / whole, category_of(term.kind), std::nullopt, line});
  }
  return bars;
}

/// DMA bytes of each tensor of a group, the largest first.
std::vector<Bar> tensor_bars(int index, const StepFacts& step, const StepFacts* baseline, const Look& look) {
  std::map<std::string, std::int64_t> before;
  if (baseline != nullptr && baseline->plan != nullptr) {
    for (const auto& [id, totals] : baseline->plan->counts.dma) {
      const auto& dma = std::get<Dma>(baseline->find(id)->statement->node);
      before[baseline->plan->nest.tensors[static_cast<std::size_t>(dma.nest_tensor)].name] += totals.bytes;
    }
  }
  std::map<int, std::int64_t> bytes;
  std::map<int, int> statement;
  for (const auto& [id, totals] : step.plan->counts.dma) {
    const auto& dma = std::get<Dma>(step.find(id)->statement->node);
    bytes[dma.nest_tensor] += totals.bytes;
    statement.emplace(dma.nest_tensor, id);
  }
  std::int64_t most = 1;
  for (const auto& [tensor, moved] : bytes) most = std::max(most, moved);
  for (const auto& [tensor, moved] : before) most = std::max(most, moved);
  std::vector<Bar> bars;
  for (const auto& [tensor, moved] : bytes) {
    const NestTensor& nest_tensor = step.plan->nest.tensors[static_cast<std::size_t>(tensor)];
    const StageTensor& held = step.plan->nest.stages.tensors[static_cast<std::size_t>(nest_tensor.tensor)];
    const std::int64_t size = element_count(held.shape) * byte_size(held.type);
    const QString times =
        size > 0 ? format("moved {:.2f} times its {}", static_cast<double>(moved) / static_cast<double>(size),
                          size_text(size, look.units()).toStdString())
                 : QString();
    std::array<QString, 3> numbers = {size_text(moved, look.units()), {}, {}};
    std::optional<double> line;
    if (baseline != nullptr) {
      const auto found = before.find(nest_tensor.name);
      const std::int64_t then = found != before.end() ? found->second : 0;
      numbers[2] = change_text(moved - then, size_text(std::abs(moved - then), look.units()));
      line = static_cast<double>(then) / static_cast<double>(most);
    }
    bars.push_back({qt(nest_tensor.name), std::move(numbers), times,
                    static_cast<double>(moved) / static_cast<double>(most), nest_tensor.written ? 1 : 5,
                    statement_place(index, statement.at(tensor)), line});
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.share > b.share; });
  return bars;
}

}  // namespace

double peak_rate(const Target& target) { return target.cores * target.vector_flops_per_cycle * target.clock_hz; }

double peak_bandwidth(const Target& target) {
  double best = 1;
  for (const BandwidthPoint& point : target.dma_bandwidth) best = std::max(best, point.bytes_per_second);
  return best;
}

std::vector<RooflinePoint> roofline_points(const LoadedPlan& plan) {
  std::vector<RooflinePoint> points;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepFacts& step = plan.steps[i];
    if (step.plan == nullptr || step.flops <= 0 || step.dma.bytes <= 0 || step.plan->time.seconds <= 0) continue;
    const auto flop = static_cast<double>(step.flops);
    points.push_back({static_cast<int>(i), flop / static_cast<double>(step.dma.bytes), flop / step.plan->time.seconds});
  }
  return points;
}

Drawing cost_terms(const LoadedPlan& plan, int index, const Look& look, QSizeF room, const PlanComparison* comparison) {
  Drawing drawing;
  const double width = std::max(room.width(), 360.0);
  const StepFacts* step = plan.step(index);
  if (step != nullptr && step->plan == nullptr) step = nullptr;
  const double clock = plan.program().target.clock_hz;
  const QString name = qt(step != nullptr ? step->step->group.name : plan.compilation.network);
  const std::int64_t cycles = step != nullptr ? step->cycles : plan.totals.cycles;
  double y = 8;
  y += add_heading(drawing, look, y, width,
                   format("Time of {}: {} cycles, {}", name.toStdString(), count_text(cycles).toStdString(),
                          seconds_text(cycles, clock).toStdString()));
  const LoadedPlan* baseline = comparison != nullptr ? comparison->baseline.get() : nullptr;
  const StepFacts* before = baseline != nullptr ? baseline->step(comparison->baseline_step(index)) : nullptr;
  std::optional<std::int64_t> then;  // what is compared with, where there is one thing
  std::vector<TermBar> terms;
  if (step == nullptr) {
    terms = terms_of(plan, baseline);
    if (baseline != nullptr) then = baseline->totals.cycles;
  } else {
    const Plan* plan_before = before != nullptr ? before->plan : nullptr;
    terms = terms_of(*step->plan, plan_before);
    if (plan_before != nullptr) then = plan_before->time.cycles;
  }
  y += add_bars(drawing, look, y, width, term_bars(terms, cycles, then, clock, look)) + 8;
  if (step != nullptr) {
    y += add_heading(drawing, look, y, width, QStringLiteral("Bytes moved per tensor, all cores"));
    y += add_bars(drawing, look, y, width, tensor_bars(index, *step, before, look));
  }
  if (comparison != nullptr) {
    y += 4;
    drawing.text(
        {margin, y, width - 2 * margin, QFontMetricsF(look.smallFont()).height()},
        then ? QStringLiteral("The line across a bar is the baseline; Δ is now minus before.")
             : QStringLiteral("The baseline has these operators in other groups: see the change in the tables."),
        look.theme().muted, look.smallFont());
    y += QFontMetricsF(look.smallFont()).height();
  }
  drawing.size = QSizeF(width, y + 8);
  return drawing;
}

Drawing roofline(const LoadedPlan& plan, const Look& look, QSizeF room) {
  Drawing drawing;
  const Theme& theme = look.theme();
  const QFontMetricsF small(look.smallFont());
  const double width = std::max(room.width(), 360.0);
  const Target& target = plan.program().target;
  const double peak = peak_rate(target);
  const double bandwidth = peak_bandwidth(target);
  const std::vector<RooflinePoint> points = roofline_points(plan);
  double y = 8;
  y += add_heading(drawing, look, y, width, QStringLiteral("Roofline of all groups"));
  y += add_legend(drawing, {margin, y}, width - margin,
                  {{QStringLiteral("left of the ridge: DMA is the limit at best"), theme.category(5)},
                   {QStringLiteral("right of it: computing is the limit at best"), theme.category(2)},
                   {QStringLiteral("ring: chosen; a dot far below the roof is slowed by something else"), theme.base}},
                  theme.text, theme.line, look.smallFont());
  double low_x = 0.1;
  double high_x = 100;
  double low_y = peak / 1e4;
  for (const RooflinePoint& point : points) {
    low_x = std::min(low_x, point.intensity);
    high_x = std::max(high_x, point.intensity);
    low_y = std::min(low_y, point.rate);
  }
  const double x0 = std::floor(std::log10(low_x));
  const double x1 = std::ceil(std::log10(std::max(high_x, peak / bandwidth * 2)));
  const double y0 = std::floor(std::log10(low_y));
  const double y1 = std::ceil(std::log10(peak * 1.5));
  const double left = margin + small.height() + small.horizontalAdvance(QStringLiteral("0.0001")) + 10;
  const QRectF area(left, y + 6, width - left - margin,
                    std::max(110.0, room.height() - y - 6 - 2 * small.height() - 18));
  const auto at = [&](double intensity, double rate) {
    return QPointF(area.left() + (std::log10(intensity) - x0) / (x1 - x0) * area.width(),
                   area.bottom() - (std::log10(rate) - y0) / (y1 - y0) * area.height());
  };
  drawing.rect(area, theme.base, theme.line);
  for (double decade = x0; decade <= x1; ++decade) {
    const double x = at(std::pow(10, decade), peak).x();
    drawing.line({x, area.top()}, {x, area.bottom()}, theme.line, 0.6);
    drawing.text({x - 30, area.bottom() + 3, 60, small.height()}, format("{:g}", std::pow(10, decade)), theme.muted,
                 look.smallFont(), Qt::AlignHCenter | Qt::AlignVCenter);
  }
  for (double decade = y0; decade <= y1; ++decade) {
    const double line = at(1, std::pow(10, decade)).y();
    drawing.line({area.left(), line}, {area.right(), line}, theme.line, 0.6);
    drawing.text(
        {margin + small.height(), line - small.height() / 2, left - margin - small.height() - 4, small.height()},
        format("{:g}", std::pow(10, decade) / 1e9), theme.muted, look.smallFont(), Qt::AlignRight | Qt::AlignVCenter);
  }
  const double ridge = peak / bandwidth;
  const double from = std::max(std::pow(10, x0), std::pow(10, y0) / bandwidth);
  Mark& roof =
      drawing.polyline({at(from, from * bandwidth), at(ridge, peak), at(std::pow(10, x1), peak)}, theme.text, 2);
  roof.tip = format(
      "roof = min(peak, intensity × bandwidth)\npeak = {} cores × {} flop/cycle × {} GHz = {:.1f} GFLOP/s\n"
      "bandwidth of the largest blocks = {:.1f} GB/s\nridge at {:.1f} flop/byte",
      target.cores, target.vector_flops_per_cycle, target.clock_hz / 1e9, peak / 1e9, bandwidth / 1e9, ridge);
  drawing.text({area.right() - 180, at(ridge, peak).y() - small.height() - 2, 176, small.height()},
               format("peak {:.0f} GFLOP/s", peak / 1e9), theme.text, look.smallFont(),
               Qt::AlignRight | Qt::AlignVCenter);
  // The slope's name, left of its middle: above the roof there are no dots.
  const QString slope = format("DMA at best {:.1f} GB/s", bandwidth / 1e9);
  const double foot = std::sqrt(from * ridge);
  const QPointF on_slope = at(foot, foot * bandwidth);
  const double slope_width = small.horizontalAdvance(slope) + 2;
  drawing.text({std::max(area.left() + 4, on_slope.x() - slope_width - 10), on_slope.y() - small.height() - 8,
                slope_width, small.height()},
               slope, theme.text, look.smallFont());
  for (const RooflinePoint& point : points) {
    const QPointF middle = at(point.intensity, point.rate);
    Mark& dot = drawing.ellipse({middle.x() - 4.5, middle.y() - 4.5, 9, 9},
                                theme.category(point.intensity < ridge ? 5 : 2), theme.text);
    dot.place = step_place(point.step);
    const double reach = std::min(peak, point.intensity * bandwidth);
    dot.tip = format(
        "{}\n{:.2f} flop/byte = flop / DMA bytes\n{:.2f} GFLOP/s = flop / predicted time\n{:.1f} % of the roof above "
        "it",
        plan.steps[static_cast<std::size_t>(point.step)].step->group.name, point.intensity, point.rate / 1e9,
        100 * point.rate / reach);
  }
  drawing.text({area.left(), area.bottom() + small.height() + 5, area.width(), small.height()},
               QStringLiteral("operational intensity, flop per DMA byte →"), theme.muted, look.smallFont(),
               Qt::AlignHCenter | Qt::AlignVCenter);
  drawing
      .text({margin - 4, area.top(), small.height() + 2, area.height()}, QStringLiteral("GFLOP/s →"), theme.muted,
            look.smallFont(), Qt::AlignHCenter | Qt::AlignVCenter)
      .upward = true;
  drawing.size = QSizeF(width, area.bottom() + 2 * small.height() + 12);
  return drawing;
}

}  // namespace stowage::inspector
