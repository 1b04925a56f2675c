// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/replay_picture.h"

#include <QFontMetricsF>
#include <QStringList>
#include <algorithm>
#include <functional>

#include "core/number_text.h"
#include "inspector/replay/algorithm_text.h"

namespace stowage::inspector {

namespace {

constexpr double margin = 12;
constexpr double gap = 18;
constexpr double narrow = 860;

QString view_text(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

/// Words in lines of at most `width`.
QStringList wrapped(const QString& text, const QFont& font, double width) {
  const QFontMetricsF metrics(font);
  QStringList lines;
  QString line;
  for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
    if (!line.isEmpty() && metrics.horizontalAdvance(longer) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.isEmpty()) lines.push_back(line);
  return lines;
}

class Picture {
 public:
  Picture(const Replay& replay, std::size_t step, const Look& look, QSizeF room)
      : replay_(replay),
        step_(replay.steps[step]),
        number_(step),
        look_(look),
        theme_(look.theme()),
        width_(std::max(room.width(), 520.0)) {}

  Drawing run() {
    strip();
    sentence();
    const double top = y_;
    const AlgorithmText* algorithm = find_algorithm(step_.algorithm);
    if (width_ >= narrow) {
      const double left = std::min(width_ * 0.5, 620.0);
      if (algorithm != nullptr) pseudocode(*algorithm, margin, left - margin);
      const double below_left = y_;
      y_ = top;
      right_column(left + gap, width_ - left - gap - margin);
      y_ = std::max(y_, below_left);
    } else {
      right_column(margin, width_ - 2 * margin);
      if (algorithm != nullptr) pseudocode(*algorithm, margin, width_ - 2 * margin);
    }
    drawing_.size = {width_, y_ + margin};
    return std::move(drawing_);
  }

 private:
  void right_column(double x, double width) {
    nest(x, width);
    ldm(x, width);
    variables(x, width);
  }

  [[nodiscard]] double row_of(const QFont& font) const { return QFontMetricsF(font).height() + 3; }

  void heading(double x, double width, const QString& text, const QString& note = {}) {
    const QFont font = look_.titleFont();
    const double used = QFontMetricsF(font).horizontalAdvance(text) + 10;
    drawing_.text({x, y_, width, row_of(font)}, text, theme_.text, font);
    if (!note.isEmpty()) {
      drawing_.text({x + used, y_, width - used, row_of(font)}, note, theme_.muted, look_.smallFont());
    }
    y_ += row_of(font) + 2;
  }

  /// Phases side by side, each with a tick for every step.
  void strip() {
    struct Phase {
      const AlgorithmText* algorithm;
      std::vector<std::size_t> steps;
    };
    std::vector<Phase> phases;
    for (std::size_t i = 0; i < replay_.steps.size(); ++i) {
      const AlgorithmText* algorithm = find_algorithm(replay_.steps[i].algorithm);
      if (phases.empty() || phases.back().algorithm != algorithm) phases.push_back({algorithm, {}});
      phases.back().steps.push_back(i);
    }
    y_ = margin - 4;
    const QFont font = look_.smallFont();
    const QFontMetricsF metrics(font);
    const double label = row_of(font);
    const double width = width_ - 2 * margin;
    // Every phase gets room for its ticks; names that do not fit are left to the heading.
    const double tick = width / static_cast<double>(replay_.steps.size() + phases.size());
    double x = margin;
    for (const Phase& phase : phases) {
      const double wide = tick * (static_cast<double>(phase.steps.size()) + 1);
      const bool current = std::find(phase.steps.begin(), phase.steps.end(), number_) != phase.steps.end();
      const QString name = phase.algorithm != nullptr ? view_text(phase.algorithm->chip) : QString();
      if (metrics.horizontalAdvance(name) <= wide) {
        drawing_.text({x, y_, wide, label}, name, current ? theme_.text : theme_.muted, font);
      }
      drawing_.rect({x, y_ + label, wide - 4, 14}, current ? theme_.hover : theme_.raised, theme_.line).tip =
          phase.algorithm != nullptr ? view_text(phase.algorithm->title) : name;
      for (std::size_t i = 0; i < phase.steps.size(); ++i) {
        const ReplayStep& step = replay_.steps[phase.steps[i]];
        const double at = x + tick * (static_cast<double>(i) + 0.5);
        const double size = std::clamp(tick * 0.7, 2.0, 10.0);
        const QRectF box(at, y_ + label + 7 - size / 2, size, size);
        const bool here = phase.steps[i] == number_;
        if (here) drawing_.rect({at - 3, y_ + label - 2, size + 6, 18}, theme_.accent).radius = 2;
        const QColor color = here                                     ? theme_.accent_text
                             : step.outcome == TraceOutcome::refused  ? theme_.error
                             : step.outcome == TraceOutcome::accepted ? theme_.category(2)
                                                                      : theme_.muted;
        // Shape as well as colour: a refusal is a cross, an acceptance a disc, any other step a bar.
        if (step.outcome == TraceOutcome::refused) {
          drawing_.line(box.topLeft(), box.bottomRight(), color, 2);
          drawing_.line(box.topRight(), box.bottomLeft(), color, 2);
        } else if (step.outcome == TraceOutcome::accepted) {
          drawing_.ellipse(box, color);
        } else {
          drawing_.rect(QRectF(box.center().x() - 1, box.top(), 2, box.height()), color);
        }
      }
      x += wide;
    }
    y_ += label + 20;
    const double row = row_of(font);
    double at = margin;
    const auto key = [&](const QString& text, const std::function<void(const QRectF&)>& symbol) {
      symbol({at, y_ + row / 2 - 4, 8, 8});
      const double wide = metrics.horizontalAdvance(text) + 1;
      drawing_.text({at + 14, y_, wide, row}, text, theme_.muted, font);
      at += wide + 30;
    };
    key(QStringLiteral("step"), [&](const QRectF& box) {
      drawing_.rect({box.center().x() - 1, box.top(), 2, box.height()}, theme_.muted);
    });
    key(QStringLiteral("accepted"), [&](const QRectF& box) { drawing_.ellipse(box, theme_.category(2)); });
    key(QStringLiteral("refused"), [&](const QRectF& box) {
      drawing_.line(box.topLeft(), box.bottomRight(), theme_.error, 2);
      drawing_.line(box.topRight(), box.bottomLeft(), theme_.error, 2);
    });
    const QString where = format("step {} of {}", number_ + 1, replay_.steps.size());
    drawing_.text({at, y_, width_ - margin - at, row}, where, theme_.text, font, Qt::AlignRight | Qt::AlignVCenter);
    y_ += row + 6;
  }

  void sentence() {
    const QFont font = look_.titleFont();
    const double inner = width_ - 2 * margin - 130;
    const QStringList says = wrapped(qt(step_.message), font, inner);
    const QStringList why = wrapped(qt(step_.why), look_.textFont(), inner);
    const double height = 12 + row_of(font) * static_cast<double>(says.size()) +
                          row_of(look_.textFont()) * static_cast<double>(why.size());
    const bool refused = step_.outcome == TraceOutcome::refused;
    const bool accepted = step_.outcome == TraceOutcome::accepted;
    const QColor side = refused ? theme_.error : accepted ? theme_.category(2) : theme_.muted;
    drawing_.rect({margin, y_, width_ - 2 * margin, height}, theme_.raised, theme_.line);
    drawing_.rect({margin, y_, 5, height}, side);
    const QString word = refused    ? QStringLiteral("✕ refused")
                         : accepted ? QStringLiteral("● accepted")
                                    : QStringLiteral("step");
    drawing_.text({margin + 14, y_ + 6, 110, row_of(font)}, word, refused ? theme_.error : theme_.text,
                  look_.textFont());
    double y = y_ + 6;
    for (const QString& line : says) {
      drawing_.text({margin + 122, y, inner, row_of(font)}, line, theme_.text, font);
      y += row_of(font);
    }
    for (const QString& line : why) {
      drawing_.text({margin + 122, y, inner, row_of(look_.textFont())}, line, theme_.muted, look_.textFont());
      y += row_of(look_.textFont());
    }
    y_ += height + 12;
  }

  void pseudocode(const AlgorithmText& algorithm, double x, double width) {
    heading(x, width, view_text(algorithm.title));
    const QFont small = look_.smallFont();
    const QFont code = look_.codeFont();
    const double row = row_of(code);
    const double number = QFontMetricsF(code).horizontalAdvance(QStringLiteral("00"));
    const double paper = QFontMetricsF(small).horizontalAdvance(QStringLiteral("99-99, 9")) + 8;
    const bool printed = std::any_of(algorithm.lines.begin(), algorithm.lines.end(),
                                     [](const AlgorithmLine& line) { return !line.paper.empty(); });
    const double before = number + 12 + (printed ? paper : 0) + 16;
    drawing_.text({x + number + 12, y_, width, row_of(small)},
                  printed ? QStringLiteral("line in %1").arg(view_text(algorithm.source)) : view_text(algorithm.source),
                  theme_.muted, small);
    y_ += row_of(small) + 2;
    const std::vector<int> lit = lines_of(algorithm, step_.mark);
    QStringList notes;
    for (std::size_t i = 0; i < algorithm.lines.size(); ++i) {
      const AlgorithmLine& line = algorithm.lines[i];
      const bool now = std::find(lit.begin(), lit.end(), static_cast<int>(i)) != lit.end();
      if (now) {
        drawing_.rect({x, y_, width, row}, theme_.hover);
        drawing_.rect({x, y_, 4, row}, theme_.accent);
      }
      const QRectF place(x + 6, y_, number, row);
      drawing_.text(place, QString::number(i + 1), now ? theme_.text : theme_.muted, code,
                    Qt::AlignRight | Qt::AlignVCenter);
      drawing_.text({x + number + 14, y_, paper - 8, row}, view_text(line.paper), theme_.muted, small);
      if (!line.differs.empty()) {
        drawing_.text({x + before - 14, y_, 14, row}, QStringLiteral("≠"), theme_.warning, code).tip =
            view_text(line.differs);
        notes.push_back(format("≠ {}: {}", i + 1, line.differs));
      }
      QFont font = code;
      font.setBold(now);
      drawing_.text({x + before, y_, width - before, row}, view_text(line.text), now ? theme_.text : theme_.text, font);
      y_ += row;
    }
    y_ += 6;
    if (notes.isEmpty()) return;
    drawing_.text({x, y_, width, row_of(small)}, QStringLiteral("≠ Where we differ from what is printed:"),
                  theme_.warning, small);
    y_ += row_of(small);
    for (const QString& note : notes) {
      for (const QString& line : wrapped(note, small, width)) {
        drawing_.text({x, y_, width, row_of(small)}, line, theme_.muted, small);
        y_ += row_of(small) - 1;
      }
    }
    y_ += 4;
  }

  [[nodiscard]] QColor color_of(ReplayLine::Kind kind) const {
    switch (kind) {
      case ReplayLine::Kind::get: return theme_.state(BufferState::filling);
      case ReplayLine::Kind::put: return theme_.state(BufferState::draining);
      case ReplayLine::Kind::init: return theme_.state(BufferState::idle);
      case ReplayLine::Kind::compute: return theme_.state(BufferState::in_use);
      default: return {};
    }
  }

  void nest(double x, double width) {
    heading(x, width, QStringLiteral("Loop nest so far"), qt("of " + replay_.subject));
    if (step_.nest.empty()) {
      drawing_.text({x, y_, width, row_of(look_.textFont())}, QStringLiteral("It moves no data: nothing to plan."),
                    theme_.muted, look_.textFont());
      y_ += row_of(look_.textFont()) + 8;
      return;
    }
    const QFont code = look_.codeFont();
    const QFont small = look_.smallFont();
    const QFontMetricsF metrics(code);
    const double row = row_of(code) + 2;
    bool moves = false;
    bool open = false;
    for (const ReplayLine& line : step_.nest) {
      const double indent = x + 8 + 18 * line.depth;
      if (line.changed) {
        drawing_.rect({x, y_, width, row}, theme_.hover);
        drawing_.rect({x, y_, 4, row}, theme_.accent);
      }
      const QColor fill = color_of(line.kind);
      const QString text = qt(line.text);
      const double wide = std::min(metrics.horizontalAdvance(text) + 10, x + width - indent);
      if (fill.isValid()) {
        moves = moves || line.kind != ReplayLine::Kind::compute;
        Mark& box = drawing_.rect({indent - 4, y_ + 1, wide, row - 2}, fill, theme_.line);
        box.radius = 3;
      }
      if (line.kind == ReplayLine::Kind::open_loop) {
        open = true;
        drawing_.rect({indent - 4, y_ + 1, wide, row - 2}, {}, theme_.muted).pen = Qt::DashLine;
      }
      drawing_.text({indent + 1, y_, wide, row}, text, fill.isValid() ? theme_.on(fill) : theme_.text, code);
      const double at = indent + wide + 8;
      if (!line.note.empty() && at < x + width) {
        drawing_.text({at, y_, x + width - at, row}, qt(line.note), line.changed ? theme_.text : theme_.muted, small)
            .tip = qt(line.note);
      }
      y_ += row;
    }
    y_ += 4;
    std::vector<LegendEntry> legend = {{QStringLiteral("compute"), color_of(ReplayLine::Kind::compute)}};
    if (moves) {
      legend.push_back({QStringLiteral("get: memory to LDM"), color_of(ReplayLine::Kind::get)});
      legend.push_back({QStringLiteral("put: LDM to memory"), color_of(ReplayLine::Kind::put)});
      legend.push_back({QStringLiteral("init: set a result's buffer"), color_of(ReplayLine::Kind::init)});
    }
    if (open) legend.push_back({QStringLiteral("dashed: place not yet chosen"), theme_.base});
    y_ += add_legend(drawing_, {x, y_}, x + width, legend, theme_.muted, theme_.line, small) + 12;
  }

  void ldm(double x, double width) {
    heading(x, width, QStringLiteral("LDM of one core"),
            step_.buffers.empty() ? QStringLiteral("no buffers yet: algorithm 1 sizes them")
                                  : format("{} of {}", bytes_text(step_.ldm_bytes), bytes_text(replay_.capacity)));
    if (step_.buffers.empty()) {
      y_ += 8;
      return;
    }
    const QFont font = look_.smallFont();
    const QFontMetricsF metrics(font);
    const double row = row_of(font) + 2;
    double names = 0;
    double sizes = 0;
    for (const ReplayBuffer& buffer : step_.buffers) {
      names = std::max(names, metrics.horizontalAdvance(format("{} [{}]", buffer.tensor, buffer.extents)));
      sizes = std::max(sizes, metrics.horizontalAdvance(size_text(buffer.bytes)));
    }
    names = std::min(names, width * 0.42) + 10;
    sizes = std::max(sizes, metrics.horizontalAdvance(size_text(replay_.most_bytes()))) + 8;
    const double left = x + names;
    const double scale = (width - names - sizes) / static_cast<double>(replay_.most_bytes());
    const double top = y_;
    double stacked = left;
    const double total_y = y_ + row * static_cast<double>(step_.buffers.size()) + 2;
    for (std::size_t b = 0; b < step_.buffers.size(); ++b) {
      const ReplayBuffer& buffer = step_.buffers[b];
      const QColor fill = theme_.category(static_cast<int>(b));
      const double wide = static_cast<double>(buffer.bytes) * scale;
      if (buffer.changed) drawing_.rect({x - 4, y_, 4, row}, theme_.accent);
      drawing_.text({x + 2, y_, names - 6, row}, format("{} [{}]", buffer.tensor, buffer.extents), theme_.text, font)
          .tip = format("{} [{}]: {}", buffer.tensor, buffer.extents, bytes_text(buffer.bytes));
      drawing_.rect({left, y_ + 2, std::max(wide, 1.5), row - 4}, fill, theme_.line);
      drawing_.text({left + width - names - sizes + 4, y_, sizes - 4, row}, size_text(buffer.bytes), theme_.muted, font,
                    Qt::AlignRight | Qt::AlignVCenter);
      drawing_.rect({stacked, total_y + 2, wide, row - 2}, fill, theme_.line);
      stacked += wide;
      y_ += row;
    }
    y_ = total_y;
    drawing_.text({x + 2, y_, names - 6, row}, QStringLiteral("all"), theme_.text, font);
    drawing_.text({left + width - names - sizes + 4, y_, sizes - 4, row}, size_text(step_.ldm_bytes), theme_.text, font,
                  Qt::AlignRight | Qt::AlignVCenter);
    const double limit = left + static_cast<double>(replay_.capacity) * scale;
    const bool exceeds = step_.ldm_bytes > replay_.capacity;
    if (exceeds) {
      drawing_.rect({limit, y_ + 2, stacked - limit, row - 2}, theme_.error, theme_.error).pattern = Qt::BDiagPattern;
    }
    drawing_.line({limit, top}, {limit, y_ + row + 3}, theme_.error, 2);
    y_ += row + 3;
    const QString says = exceeds ? format("| capacity {}, exceeded by {}", bytes_text(replay_.capacity),
                                          bytes_text(step_.ldm_bytes - replay_.capacity))
                                 : format("| capacity {}", bytes_text(replay_.capacity));
    drawing_.text({x, y_, width - sizes, row}, says, theme_.error, font, Qt::AlignRight | Qt::AlignVCenter);
    y_ += row + 10;
  }

  void variables(double x, double width) {
    if (step_.variables.empty()) return;
    heading(x, width, QStringLiteral("Values"), QStringLiteral("● changed by this step"));
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
        drawing_.text({x, y_, 14, row_of(font)}, QStringLiteral("●"), theme_.accent, look_.smallFont());
      }
      drawing_.text({x + 16, y_, names, row_of(font)}, qt(variable.name), theme_.muted, font);
      for (const QString& line : lines) {
        drawing_.text({x + 18 + names, y_, width - names - 18, row_of(font)}, line, theme_.text, font);
        y_ += row_of(font) - 1;
      }
      if (lines.isEmpty()) y_ += row_of(font) - 1;
    }
    y_ += 8;
  }

  const Replay& replay_;
  const ReplayStep& step_;
  std::size_t number_;
  const Look& look_;
  const Theme& theme_;
  double width_;
  double y_ = 0;
  Drawing drawing_;
};

}  // namespace

Drawing replay_picture(const Replay& replay, std::size_t step, const Look& look, QSizeF room) {
  if (step >= replay.steps.size()) {
    Drawing drawing;
    drawing.size = {std::max(room.width(), 400.0), 60};
    drawing.text({margin, margin, drawing.size.width() - 2 * margin, 30},
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
