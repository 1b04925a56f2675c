// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/replay_picture.h"

#include <QFontMetricsF>
#include <QStringList>
#include <algorithm>
#include <set>

#include "inspector/draw/wrapped_text.h"
#include "inspector/replay/algorithm_text.h"
#include "inspector/replay/replay_sheet.h"

namespace stowage::inspector {

namespace {

constexpr double gap = 18;
constexpr double narrow = 860;

class Picture {
 public:
  Picture(const Replay& replay, std::size_t step, const Look& look, QSizeF room)
      : replay_(replay),
        step_(replay.steps[step]),
        number_(step),
        look_(look),
        theme_(look.theme()),
        width_(std::max(room.width(), 520.0)),
        sheet_{look, width_} {}

  Drawing run() {
    add_phases(sheet_, replay_, number_);
    sentence();
    const double top = sheet_.y;
    const AlgorithmText* algorithm = find_algorithm(step_.algorithm);
    if (width_ >= narrow) {
      const double left = std::min(width_ * 0.5, 620.0);
      if (algorithm != nullptr) pseudocode(*algorithm, ReplaySheet::margin, left - ReplaySheet::margin);
      remarks(ReplaySheet::margin, left - ReplaySheet::margin);
      const double below_left = sheet_.y;
      sheet_.y = top;
      right_column(left + gap, width_ - left - gap - ReplaySheet::margin);
      sheet_.y = std::max(sheet_.y, below_left);
    } else {
      right_column(ReplaySheet::margin, width_ - 2 * ReplaySheet::margin);
      if (algorithm != nullptr) pseudocode(*algorithm, ReplaySheet::margin, width_ - 2 * ReplaySheet::margin);
      remarks(ReplaySheet::margin, width_ - 2 * ReplaySheet::margin);
    }
    sheet_.drawing.size = {width_, sheet_.y + ReplaySheet::margin};
    return std::move(sheet_.drawing);
  }

 private:
  void right_column(double x, double width) {
    nest(x, width);
    add_ldm(sheet_, replay_, step_, x, width);
    add_rounds(sheet_, step_, x, width);
    variables(x, width);
  }

  void sentence() {
    const QFont font = look_.titleFont();
    const double inner = width_ - 2 * ReplaySheet::margin - 130;
    const QStringList says = wrapped(qt(step_.message), font, inner);
    const QStringList why = step_.why.empty() ? QStringList() : wrapped(qt(step_.why), look_.textFont(), inner);
    const double height = 12 + sheet_.row_of(font) * static_cast<double>(says.size()) +
                          sheet_.row_of(look_.textFont()) * static_cast<double>(why.size());
    const bool refused = step_.outcome == TraceOutcome::refused;
    const bool accepted = step_.outcome == TraceOutcome::accepted;
    const QColor side = refused ? theme_.error : accepted ? theme_.category(2) : theme_.muted;
    sheet_.drawing.rect({ReplaySheet::margin, sheet_.y, width_ - 2 * ReplaySheet::margin, height}, theme_.raised,
                        theme_.line);
    sheet_.drawing.rect({ReplaySheet::margin, sheet_.y, 5, height}, side);
    const QString word = refused        ? QStringLiteral("✕ refused")
                         : accepted     ? QStringLiteral("● accepted")
                         : step_.outbid ? QStringLiteral("○ outbid")
                                        : QStringLiteral("step");
    sheet_.drawing.text({ReplaySheet::margin + 14, sheet_.y + 6, 110, sheet_.row_of(font)}, word,
                        refused ? theme_.error : theme_.text, look_.textFont());
    double y = sheet_.y + 6;
    for (const QString& line : says) {
      sheet_.drawing.text({ReplaySheet::margin + 122, y, inner, sheet_.row_of(font)}, line, theme_.text, font);
      y += sheet_.row_of(font);
    }
    for (const QString& line : why) {
      sheet_.drawing.text({ReplaySheet::margin + 122, y, inner, sheet_.row_of(look_.textFont())}, line, theme_.muted,
                          look_.textFont());
      y += sheet_.row_of(look_.textFont());
    }
    sheet_.y += height + 12;
  }

  void pseudocode(const AlgorithmText& algorithm, double x, double width) {
    sheet_.heading(x, width, qt(algorithm.title));
    const QFont small = look_.smallFont();
    const QFont code = look_.codeFont();
    const double row = sheet_.row_of(code);
    const double number = QFontMetricsF(code).horizontalAdvance(QStringLiteral("00"));
    const double paper = QFontMetricsF(small).horizontalAdvance(QStringLiteral("99-99, 9")) + 8;
    const bool printed = std::any_of(algorithm.lines.begin(), algorithm.lines.end(),
                                     [](const AlgorithmLine& line) { return !line.paper.empty(); });
    const double before = number + 12 + (printed ? paper : 0) + 16;
    sheet_.drawing.text({x + number + 12, sheet_.y, width, sheet_.row_of(small)},
                        printed ? QStringLiteral("line in %1").arg(qt(algorithm.source)) : qt(algorithm.source),
                        theme_.muted, small);
    sheet_.y += sheet_.row_of(small) + 2;
    const std::vector<int> lit = lines_of(algorithm, step_.mark);
    QStringList notes;
    for (std::size_t i = 0; i < algorithm.lines.size(); ++i) {
      const AlgorithmLine& line = algorithm.lines[i];
      const bool now = std::find(lit.begin(), lit.end(), static_cast<int>(i)) != lit.end();
      if (now) {
        sheet_.drawing.rect({x, sheet_.y, width, row}, theme_.hover);
        sheet_.drawing.rect({x, sheet_.y, 4, row}, theme_.accent);
      }
      const QRectF place(x + 6, sheet_.y, number, row);
      sheet_.drawing.text(place, QString::number(i + 1), now ? theme_.text : theme_.muted, code,
                          Qt::AlignRight | Qt::AlignVCenter);
      sheet_.drawing.text({x + number + 14, sheet_.y, paper - 8, row}, qt(line.paper), theme_.muted, small);
      if (!line.differs.empty()) {
        sheet_.drawing.text({x + before - 14, sheet_.y, 14, row}, QStringLiteral("≠"), theme_.warning, code).tip =
            qt(line.differs);
        notes.push_back(format("≠ {}: {}", i + 1, line.differs));
      }
      QFont font = code;
      font.setBold(now);
      sheet_.drawing.text({x + before, sheet_.y, width - before, row}, qt(line.text), now ? theme_.text : theme_.text,
                          font);
      sheet_.y += row;
    }
    sheet_.y += 6;
    if (notes.isEmpty()) return;
    sheet_.drawing.text({x, sheet_.y, width, sheet_.row_of(small)},
                        QStringLiteral("≠ Where we differ from what is printed:"), theme_.warning, small);
    sheet_.y += sheet_.row_of(small);
    for (const QString& note : notes) {
      for (const QString& line : wrapped(note, small, width)) {
        sheet_.drawing.text({x, sheet_.y, width, sheet_.row_of(small)}, line, theme_.muted, small);
        sheet_.y += sheet_.row_of(small) - 1;
      }
    }
    sheet_.y += 4;
  }

  void nest(double x, double width) {
    sheet_.heading(x, width,
                   step_.algorithm == "result" ? QStringLiteral("Loop nest") : QStringLiteral("Loop nest so far"),
                   qt("of " + replay_.subject));
    if (step_.nest.empty()) {
      sheet_.drawing.text({x, sheet_.y, width, sheet_.row_of(look_.textFont())},
                          step_.is_text ? QStringLiteral("not kept by the version that wrote this plan")
                                        : QStringLiteral("It moves no data: nothing to plan."),
                          theme_.muted, look_.textFont());
      sheet_.y += sheet_.row_of(look_.textFont()) + 8;
      return;
    }
    const QFont code = look_.codeFont();
    const QFont small = look_.smallFont();
    const QFontMetricsF metrics(code);
    const double row = sheet_.row_of(code) + 2;
    std::set<ReplayLine::Kind> drawn;
    for (const ReplayLine& line : step_.nest) {
      drawn.insert(line.kind);
      const double indent = x + 8 + 18 * line.depth;
      if (line.changed) {
        sheet_.drawing.rect({x, sheet_.y, width, row}, theme_.hover);
        sheet_.drawing.rect({x, sheet_.y, 4, row}, theme_.accent);
      }
      const QColor fill = sheet_.color_of(line.kind);
      const QString text = qt(line.text);
      const double wide = std::min(metrics.horizontalAdvance(text) + 10, x + width - indent);
      if (fill.isValid()) {
        Mark& box = sheet_.drawing.rect({indent - 4, sheet_.y + 1, wide, row - 2}, fill, theme_.line);
        box.radius = 3;
      }
      if (line.kind == ReplayLine::Kind::open_loop) {
        sheet_.drawing.rect({indent - 4, sheet_.y + 1, wide, row - 2}, {}, theme_.muted).pen = Qt::DashLine;
      }
      sheet_.drawing.text({indent + 1, sheet_.y, wide, row}, text, fill.isValid() ? theme_.on(fill) : theme_.text,
                          code);
      const double at = indent + wide + 8;
      if (!line.note.empty() && at < x + width) {
        sheet_.drawing
            .text({at, sheet_.y, x + width - at, row}, qt(line.note), line.changed ? theme_.text : theme_.muted, small)
            .tip = qt(line.note);
      }
      sheet_.y += row;
    }
    sheet_.y += 4;
    std::vector<LegendEntry> legend;
    const auto key = [&](ReplayLine::Kind kind, const QString& text) {
      if (drawn.contains(kind))
        legend.push_back({text, sheet_.color_of(kind).isValid() ? sheet_.color_of(kind) : theme_.base});
    };
    key(ReplayLine::Kind::compute, QStringLiteral("compute"));
    key(ReplayLine::Kind::get, QStringLiteral("get: memory to LDM"));
    key(ReplayLine::Kind::put, QStringLiteral("put: LDM to memory"));
    key(ReplayLine::Kind::init, QStringLiteral("set a buffer"));
    key(ReplayLine::Kind::open_loop, QStringLiteral("dashed: place not yet chosen"));
    sheet_.y += add_legend(sheet_.drawing, {x, sheet_.y}, x + width, legend, theme_.muted, theme_.line, small) + 12;
  }

  /// What decided, in sentences of this operator's own numbers.
  void remarks(double x, double width) {
    for (const ReplayRemarks& remarks : step_.remarks) {
      sheet_.heading(x, width, qt(remarks.heading));
      const QFont font = look_.textFont();
      for (const std::string& text : remarks.texts) {
        const QStringList lines = wrapped(qt(text), font, width - 16);
        sheet_.drawing.rect({x + 3, sheet_.y + sheet_.row_of(font) / 2 - 2, 4, 4}, theme_.muted);
        for (const QString& line : lines) {
          sheet_.drawing.text({x + 14, sheet_.y, width - 14, sheet_.row_of(font)}, line, theme_.text, font);
          sheet_.y += sheet_.row_of(font) - 1;
        }
        sheet_.y += 3;
      }
      sheet_.y += 6;
    }
  }

  void variables(double x, double width) {
    if (step_.variables.empty()) return;
    sheet_.heading(x, width, QStringLiteral("Values"), QStringLiteral("● changed by this step"));
    const QFont font = look_.textFont();
    const QFontMetricsF metrics(font);
    double names = 0;
    for (const ReplayVariable& variable : step_.variables) {
      names = std::max(names, metrics.horizontalAdvance(qt(variable.name)));
    }
    names = std::min(names + 14, width * 0.4);
    for (const ReplayVariable& variable : step_.variables) {
      const QStringList lines = wrapped(qt(variable.value), font, width - names - 18);
      if (variable.changed) {
        sheet_.drawing.text({x, sheet_.y, 14, sheet_.row_of(font)}, QStringLiteral("●"), theme_.accent,
                            look_.smallFont());
      }
      sheet_.drawing.text({x + 16, sheet_.y, names, sheet_.row_of(font)}, qt(variable.name), theme_.muted, font);
      for (const QString& line : lines) {
        sheet_.drawing.text({x + 18 + names, sheet_.y, width - names - 18, sheet_.row_of(font)}, line, theme_.text,
                            font);
        sheet_.y += sheet_.row_of(font) - 1;
      }
      if (lines.isEmpty()) sheet_.y += sheet_.row_of(font) - 1;
    }
    sheet_.y += 8;
  }

  const Replay& replay_;
  const ReplayStep& step_;
  std::size_t number_;
  const Look& look_;
  const Theme& theme_;
  double width_;
  ReplaySheet sheet_;
};

}  // namespace

Drawing replay_picture(const Replay& replay, std::size_t step, const Look& look, QSizeF room) {
  if (step >= replay.steps.size()) {
    Drawing drawing;
    drawing.size = {std::max(room.width(), 400.0), 60};
    drawing.text({ReplaySheet::margin, ReplaySheet::margin, drawing.size.width() - 2 * ReplaySheet::margin, 30},
                 QStringLiteral("Choose a fused operator to see how its plan came about."), look.theme().muted,
                 look.textFont());
    return drawing;
  }
  return Picture(replay, step, look, room).run();
}

QSizeF replay_size(const Replay& replay, const Look& look, QSizeF room) {
  QSizeF size = replay_picture(replay, replay.steps.size(), look, room).size;
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    size = size.expandedTo(replay_picture(replay, i, look, room).size);
  }
  return size;
}

}  // namespace stowage::inspector
