// SPDX-License-Identifier: Apache-2.0
// Where in the replay a step is: the phases with a tick for every step.
#include <QString>
#include <algorithm>
#include <functional>

#include "inspector/draw/shared_out.h"
#include "inspector/replay/algorithm_text.h"
#include "inspector/replay/replay_sheet.h"

namespace stowage::inspector {

namespace {

/// Steps of one algorithm, one behind the other.
struct Phase {
  const AlgorithmText* algorithm = nullptr;  ///< absent: steps that belong to none
  std::vector<std::size_t> steps;

  [[nodiscard]] QString name() const { return algorithm != nullptr ? qt(algorithm->chip) : QString(); }
  [[nodiscard]] QString title() const { return algorithm != nullptr ? qt(algorithm->title) : QString(); }
  [[nodiscard]] bool holds(std::size_t step) const {
    return std::find(steps.begin(), steps.end(), step) != steps.end();
  }
};

std::vector<Phase> phases_of(const Replay& replay) {
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    const AlgorithmText* algorithm = find_algorithm(replay.steps[i].algorithm);
    if (phases.empty() || phases.back().algorithm != algorithm) phases.push_back({algorithm, {}});
    phases.back().steps.push_back(i);
  }
  return phases;
}

/// A step's symbol. Shape as well as colour: a refusal is a cross, an acceptance a disc, what is outbid a ring, any
/// other step a bar.
void add_symbol(Drawing& drawing, const QRectF& box, TraceOutcome outcome, bool outbid, const QColor& color) {
  if (outcome == TraceOutcome::refused) {
    drawing.line(box.topLeft(), box.bottomRight(), color, 2);
    drawing.line(box.topRight(), box.bottomLeft(), color, 2);
  } else if (outcome == TraceOutcome::accepted) {
    drawing.ellipse(box, color);
  } else if (outbid) {
    drawing.ellipse(box, {}, color).width = 2;
  } else {
    drawing.rect(QRectF(box.center().x() - 1, box.top(), 2, box.height()), color);
  }
}

QColor color_of(const Theme& theme, TraceOutcome outcome) {
  return outcome == TraceOutcome::refused    ? theme.error
         : outcome == TraceOutcome::accepted ? theme.category(2)
                                             : theme.muted;
}

/// The ticks of a phase from `x` on, `tick` apart; the step that is shown is marked.
void add_ticks(ReplaySheet& sheet, const Replay& replay, const Phase& phase, std::size_t shown, double x, double tick) {
  const Theme& theme = sheet.look.theme();
  const double top = sheet.y + ReplaySheet::row_of(sheet.look.smallFont());
  for (std::size_t i = 0; i < phase.steps.size(); ++i) {
    const ReplayStep& step = replay.steps[phase.steps[i]];
    const double at = x + tick * (static_cast<double>(i) + 0.5);
    const double size = std::clamp(tick * 0.7, 2.0, 10.0);
    const bool here = phase.steps[i] == shown;
    if (here) sheet.drawing.rect({at - 3, top - 2, size + 6, 18}, theme.accent).radius = 2;
    add_symbol(sheet.drawing, {at, top + 7 - size / 2, size, size}, step.outcome, step.outbid,
               here ? theme.accent_text : color_of(theme, step.outcome));
  }
}

/// Every phase gets room for its ticks, and for its name; names for which there is none are left to the heading.
void add_strip(ReplaySheet& sheet, const Replay& replay, std::size_t shown) {
  const Theme& theme = sheet.look.theme();
  const QFont font = sheet.look.smallFont();
  const QFontMetricsF metrics(font);
  const double label = ReplaySheet::row_of(font);
  const std::vector<Phase> phases = phases_of(replay);
  std::vector<double> names;
  std::vector<double> ticks;
  for (const Phase& phase : phases) {
    names.push_back(metrics.horizontalAdvance(phase.name()) + 6);
    ticks.push_back(static_cast<double>(phase.steps.size()) + 1);
  }
  const std::vector<double> widths = shared_out(sheet.width - 2 * ReplaySheet::margin, ticks, names);
  double x = ReplaySheet::margin;
  for (std::size_t p = 0; p < phases.size(); ++p) {
    const Phase& phase = phases[p];
    const bool current = phase.holds(shown);
    if (metrics.horizontalAdvance(phase.name()) <= widths[p]) {
      sheet.drawing.text({x, sheet.y, widths[p], label}, phase.name(), current ? theme.text : theme.muted, font);
    }
    sheet.drawing.rect({x, sheet.y + label, widths[p] - 4, 14}, current ? theme.hover : theme.raised, theme.line).tip =
        phase.title();
    add_ticks(sheet, replay, phase, shown, x, widths[p] / ticks[p]);
    x += widths[p];
  }
  sheet.y += label + 20;
}

/// The key to the symbols, and the step's number.
void add_key(ReplaySheet& sheet, const Replay& replay, std::size_t shown) {
  const Theme& theme = sheet.look.theme();
  const QFont font = sheet.look.smallFont();
  const double row = ReplaySheet::row_of(font);
  double at = ReplaySheet::margin;
  const auto key = [&](const QString& text, TraceOutcome outcome, bool outbid) {
    add_symbol(sheet.drawing, {at, sheet.y + row / 2 - 4, 8, 8}, outcome, outbid, color_of(theme, outcome));
    const double wide = QFontMetricsF(font).horizontalAdvance(text) + 1;
    sheet.drawing.text({at + 14, sheet.y, wide, row}, text, theme.muted, font);
    at += wide + 30;
  };
  key(QStringLiteral("step"), TraceOutcome::step, false);
  key(QStringLiteral("accepted"), TraceOutcome::accepted, false);
  key(QStringLiteral("refused"), TraceOutcome::refused, false);
  if (std::any_of(replay.steps.begin(), replay.steps.end(), [](const ReplayStep& step) { return step.outbid; })) {
    key(QStringLiteral("outbid"), TraceOutcome::step, true);
  }
  sheet.drawing.text({at, sheet.y, sheet.width - ReplaySheet::margin - at, row},
                     format("step {} of {}", shown + 1, replay.steps.size()), theme.text, font,
                     Qt::AlignRight | Qt::AlignVCenter);
  sheet.y += row + 6;
}

}  // namespace

void add_phases(ReplaySheet& sheet, const Replay& replay, std::size_t step) {
  sheet.y = ReplaySheet::margin - 4;
  add_strip(sheet, replay, step);
  add_key(sheet, replay, step);
}

}  // namespace stowage::inspector
