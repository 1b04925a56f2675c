// SPDX-License-Identifier: Apache-2.0
// What each loop would cost as the innermost of those without a place.
#include <QStringList>
#include <algorithm>

#include "inspector/replay/replay_sheet.h"

namespace stowage::inspector {

namespace {

QString heading_of(const LoopRound& round) {
  QStringList loops;
  for (const LoopCandidate& candidate : round.candidates) loops << qt(candidate.loop);
  return QStringLiteral("Which goes inside: ") + loops.join(QStringLiteral(", "));
}

void add_table(ReplaySheet& sheet, const LoopRound& round, double x, double width) {
  const Theme& theme = sheet.look.theme();
  const QFont font = sheet.look.smallFont();
  const QFontMetricsF metrics(font);
  const double row = sheet.row_of(font) + 1;
  std::vector<QStringList> cells(1);
  cells[0] << QStringLiteral("loop");
  for (const std::string& tensor : round.tensors) cells[0] << qt(tensor);
  cells[0] << QStringLiteral("all");
  const bool computes = std::any_of(round.candidates.begin(), round.candidates.end(),
                                    [](const LoopCandidate& c) { return c.operations > 0; });
  if (computes) cells[0] << QStringLiteral("operations");
  for (const LoopCandidate& candidate : round.candidates) {
    QStringList line = {qt(candidate.loop)};
    for (const std::int64_t count : candidate.transfers) line << count_text(count);
    line << count_text(candidate.total);
    if (computes) line << count_text(candidate.operations);
    cells.push_back(line);
  }
  std::vector<double> widths(static_cast<std::size_t>(cells[0].size()), 0);
  double remark = 0;
  const auto remark_of = [&](const LoopCandidate& candidate) {
    const auto equals = std::count_if(round.candidates.begin(), round.candidates.end(), [&](const LoopCandidate& c) {
      return c.total == candidate.total && c.operations == candidate.operations;
    });
    return candidate.chosen
               ? equals > 1 ? QStringLiteral("● chosen: of equals the order stays") : QStringLiteral("● chosen")
           : candidate.barred ? QStringLiteral("over the output: not inside a sum")
                              : QString();
  };
  for (const LoopCandidate& candidate : round.candidates) {
    remark = std::max(remark, metrics.horizontalAdvance(remark_of(candidate)));
  }
  double used = 0;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    for (const QStringList& line : cells) {
      widths[c] = std::max(widths[c], metrics.horizontalAdvance(line[static_cast<qsizetype>(c)]) + 14);
    }
    used += widths[c];
  }
  // Long names of tensors give way, in the middle.
  const double most = std::max(48.0, (width - 10) / static_cast<double>(widths.size()));
  if (used > width - 10) {
    for (double& wide : widths) wide = std::min(wide, most);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const LoopCandidate* candidate = i == 0 ? nullptr : &round.candidates[i - 1];
    if (candidate != nullptr && candidate->chosen) sheet.drawing.rect({x, sheet.y, width, row}, theme.hover);
    double at = x + 4;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const QString& text = cells[i][static_cast<qsizetype>(c)];
      Mark& cell = sheet.drawing.text({at, sheet.y, widths[c] - 8, row}, text, i == 0 ? theme.muted : theme.text, font,
                                      (c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
      cell.elide = Qt::ElideMiddle;
      cell.tip = text;
      at += widths[c];
    }
    if (candidate != nullptr && !remark_of(*candidate).isEmpty()) {
      const bool fits = at + remark < x + width;
      if (!fits) sheet.y += row - 2;
      const double from = fits ? at + 6 : x + 18;
      sheet.drawing.text({from, sheet.y, x + width - from, row}, remark_of(*candidate),
                         candidate->chosen ? theme.text : theme.muted, font);
    }
    sheet.y += row;
    if (i == 0) sheet.drawing.line({x, sheet.y}, {x + width, sheet.y}, theme.line);
  }
  sheet.y += 10;
}

}  // namespace

void add_rounds(ReplaySheet& sheet, const ReplayStep& step, double x, double width) {
  for (const LoopRound& round : step.rounds) {
    sheet.heading(x, width, heading_of(round), QStringLiteral("transfers on one core, if innermost"));
    add_table(sheet, round, x, width);
  }
}

}  // namespace stowage::inspector
