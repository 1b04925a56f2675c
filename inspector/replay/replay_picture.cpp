// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/replay_picture.h"

#include <QFontMetricsF>
#include <QStringList>
#include <algorithm>
#include <functional>
#include <set>

#include "inspector/draw/shared_out.h"
#include "inspector/draw/wrapped_text.h"
#include "inspector/replay/algorithm_text.h"

namespace stowage::inspector {

namespace {

constexpr double margin = 12;
constexpr double gap = 18;
constexpr double narrow = 860;

QString view_text(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

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
      remarks(margin, left - margin);
      const double below_left = y_;
      y_ = top;
      right_column(left + gap, width_ - left - gap - margin);
      y_ = std::max(y_, below_left);
    } else {
      right_column(margin, width_ - 2 * margin);
      if (algorithm != nullptr) pseudocode(*algorithm, margin, width_ - 2 * margin);
      remarks(margin, width_ - 2 * margin);
    }
    drawing_.size = {width_, y_ + margin};
    return std::move(drawing_);
  }

 private:
  void right_column(double x, double width) {
    nest(x, width);
    ldm(x, width);
    rounds(x, width);
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
    const auto name_of = [](const Phase& phase) {
      return phase.algorithm != nullptr ? view_text(phase.algorithm->chip) : QString();
    };
    // Every phase gets room for its ticks, and for its name; names for which there is none are left to the heading.
    std::vector<double> names;
    std::vector<double> ticks;
    for (const Phase& phase : phases) {
      names.push_back(metrics.horizontalAdvance(name_of(phase)) + 6);
      ticks.push_back(static_cast<double>(phase.steps.size()) + 1);
    }
    const std::vector<double> widths = shared_out(width, ticks, names);
    double x = margin;
    for (std::size_t p = 0; p < phases.size(); ++p) {
      const Phase& phase = phases[p];
      const double wide = widths[p];
      const double tick = wide / ticks[p];
      const bool current = std::find(phase.steps.begin(), phase.steps.end(), number_) != phase.steps.end();
      const QString name = name_of(phase);
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
        // Shape as well as colour: a refusal is a cross, an acceptance a disc, what is outbid a ring, any other
        // step a bar.
        if (step.outcome == TraceOutcome::refused) {
          drawing_.line(box.topLeft(), box.bottomRight(), color, 2);
          drawing_.line(box.topRight(), box.bottomLeft(), color, 2);
        } else if (step.outcome == TraceOutcome::accepted) {
          drawing_.ellipse(box, color);
        } else if (step.outbid) {
          drawing_.ellipse(box, {}, color).width = 2;
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
    if (std::any_of(replay_.steps.begin(), replay_.steps.end(), [](const ReplayStep& step) { return step.outbid; })) {
      key(QStringLiteral("outbid"), [&](const QRectF& box) { drawing_.ellipse(box, {}, theme_.muted).width = 2; });
    }
    const QString where = format("step {} of {}", number_ + 1, replay_.steps.size());
    drawing_.text({at, y_, width_ - margin - at, row}, where, theme_.text, font, Qt::AlignRight | Qt::AlignVCenter);
    y_ += row + 6;
  }

  void sentence() {
    const QFont font = look_.titleFont();
    const double inner = width_ - 2 * margin - 130;
    const QStringList says = wrapped(qt(step_.message), font, inner);
    const QStringList why = step_.why.empty() ? QStringList() : wrapped(qt(step_.why), look_.textFont(), inner);
    const double height = 12 + row_of(font) * static_cast<double>(says.size()) +
                          row_of(look_.textFont()) * static_cast<double>(why.size());
    const bool refused = step_.outcome == TraceOutcome::refused;
    const bool accepted = step_.outcome == TraceOutcome::accepted;
    const QColor side = refused ? theme_.error : accepted ? theme_.category(2) : theme_.muted;
    drawing_.rect({margin, y_, width_ - 2 * margin, height}, theme_.raised, theme_.line);
    drawing_.rect({margin, y_, 5, height}, side);
    const QString word = refused        ? QStringLiteral("✕ refused")
                         : accepted     ? QStringLiteral("● accepted")
                         : step_.outbid ? QStringLiteral("○ outbid")
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
    heading(x, width, step_.algorithm == "result" ? QStringLiteral("Loop nest") : QStringLiteral("Loop nest so far"),
            qt("of " + replay_.subject));
    if (step_.nest.empty()) {
      drawing_.text({x, y_, width, row_of(look_.textFont())},
                    step_.is_text ? QStringLiteral("not kept by the version that wrote this plan")
                                  : QStringLiteral("It moves no data: nothing to plan."),
                    theme_.muted, look_.textFont());
      y_ += row_of(look_.textFont()) + 8;
      return;
    }
    const QFont code = look_.codeFont();
    const QFont small = look_.smallFont();
    const QFontMetricsF metrics(code);
    const double row = row_of(code) + 2;
    std::set<ReplayLine::Kind> drawn;
    for (const ReplayLine& line : step_.nest) {
      drawn.insert(line.kind);
      const double indent = x + 8 + 18 * line.depth;
      if (line.changed) {
        drawing_.rect({x, y_, width, row}, theme_.hover);
        drawing_.rect({x, y_, 4, row}, theme_.accent);
      }
      const QColor fill = color_of(line.kind);
      const QString text = qt(line.text);
      const double wide = std::min(metrics.horizontalAdvance(text) + 10, x + width - indent);
      if (fill.isValid()) {
        Mark& box = drawing_.rect({indent - 4, y_ + 1, wide, row - 2}, fill, theme_.line);
        box.radius = 3;
      }
      if (line.kind == ReplayLine::Kind::open_loop) {
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
    std::vector<LegendEntry> legend;
    const auto key = [&](ReplayLine::Kind kind, const QString& text) {
      if (drawn.contains(kind)) legend.push_back({text, color_of(kind).isValid() ? color_of(kind) : theme_.base});
    };
    key(ReplayLine::Kind::compute, QStringLiteral("compute"));
    key(ReplayLine::Kind::get, QStringLiteral("get: memory to LDM"));
    key(ReplayLine::Kind::put, QStringLiteral("put: LDM to memory"));
    key(ReplayLine::Kind::init, QStringLiteral("set a buffer"));
    key(ReplayLine::Kind::open_loop, QStringLiteral("dashed: place not yet chosen"));
    y_ += add_legend(drawing_, {x, y_}, x + width, legend, theme_.muted, theme_.line, small) + 12;
  }

  /// A buffer has the colour of what moves it: the same as its lines in the nest above.
  [[nodiscard]] QColor color_of(const ReplayBuffer& buffer) const {
    switch (buffer.kind) {
      case ModelBuffer::Kind::input: return color_of(ReplayLine::Kind::get);
      case ModelBuffer::Kind::output: return color_of(ReplayLine::Kind::put);
      case ModelBuffer::Kind::intermediate: return color_of(ReplayLine::Kind::compute);
    }
    return {};
  }

  void ldm(double x, double width) {
    heading(x, width, QStringLiteral("LDM of one core"),
            step_.is_text           ? QStringLiteral("not kept by the version that wrote this plan")
            : step_.buffers.empty() ? QStringLiteral("no buffers yet: algorithm 1 sizes them")
                                    : format("{} of {}", size_text(step_.ldm_bytes, look_.units()).toStdString(),
                                             size_text(replay_.capacity, look_.units()).toStdString()));
    if (step_.buffers.empty()) {
      y_ += 8;
      return;
    }
    const QFont font = look_.smallFont();
    const QFontMetricsF metrics(font);
    const double row = row_of(font) + 2;
    const auto label_of = [](const ReplayBuffer& buffer) { return format("{} [{}]", buffer.tensor, buffer.extents); };
    double names = metrics.horizontalAdvance(QStringLiteral("rounding up"));
    double sizes = metrics.horizontalAdvance(size_text(replay_.max_bytes(), look_.units()));
    std::int64_t rounding = 0;
    std::set<ModelBuffer::Kind> kinds;
    for (const ReplayBuffer& buffer : step_.buffers) {
      names = std::max(names, metrics.horizontalAdvance(label_of(buffer)));
      sizes = std::max(sizes, metrics.horizontalAdvance(size_text(buffer.bytes, look_.units())));
      if (buffer.inside.empty()) rounding += buffer.taken - buffer.bytes;
      kinds.insert(buffer.kind);
    }
    names = std::min(names, width * 0.42) + 10;
    sizes += 8;
    const double left = x + names;
    const double right = x + width - sizes;
    // The LDM fills most of the width; what is tried beyond it is cut at the edge, its number tells how much it was.
    const double scale = (right - left) / (static_cast<double>(replay_.shown_bytes()));
    const auto bar = [&](double from, double bytes, double height, const QColor& fill) -> double {
      const double to = std::min(from + bytes * scale, right);
      if (to > from) drawing_.rect({from, y_ + 2, to - from, height}, fill, theme_.line);
      return to;
    };
    const auto number = [&](const QString& text, const QColor& color) {
      drawing_.text({right + 4, y_, sizes - 4, row}, text, color, font, Qt::AlignRight | Qt::AlignVCenter);
    };
    const double top = y_;
    const double total_y = y_ + row * static_cast<double>(step_.buffers.size() + (rounding > 0 ? 1 : 0)) + 2;
    double stacked = left;
    for (const ReplayBuffer& buffer : step_.buffers) {
      if (buffer.changed) drawing_.rect({x - 4, y_, 4, row}, theme_.accent);
      Mark& label = drawing_.text({x + 2, y_, names - 6, row}, label_of(buffer), theme_.text, font);
      label.elide = Qt::ElideMiddle;
      label.tip =
          format("{}: {}", label_of(buffer).toStdString(), size_text(buffer.bytes, look_.units()).toStdString());
      number(size_text(buffer.bytes, look_.units()), theme_.muted);
      const QColor fill = color_of(buffer);
      if (buffer.inside.empty()) {
        bar(left, std::max(static_cast<double>(buffer.bytes), 1.5 / scale), row - 4, fill);
        const double y = y_;
        y_ = total_y;
        stacked = bar(stacked, static_cast<double>(buffer.taken), row - 2, fill);
        y_ = y;
      } else {
        drawing_.text({left + 2, y_, right - left - 4, row}, format("in the place of {}", buffer.inside), theme_.muted,
                      font);
      }
      y_ += row;
    }
    if (rounding > 0) {
      drawing_.text({x + 2, y_, names - 6, row}, QStringLiteral("rounding up"), theme_.muted, font);
      drawing_.text({left + 2, y_, right - left - 4, row},
                    format("every buffer begins at a multiple of {} B", replay_.alignment), theme_.muted, font);
      number(QStringLiteral("+") + size_text(rounding, look_.units()), theme_.muted);
    }
    y_ = total_y;
    drawing_.text({x + 2, y_, names - 6, row}, QStringLiteral("all"), theme_.text, font);
    number(size_text(step_.ldm_bytes, look_.units()), theme_.text);
    const double limit = left + static_cast<double>(replay_.capacity) * scale;
    const bool exceeds = step_.ldm_bytes > replay_.capacity;
    if (exceeds) {
      drawing_.rect({limit, y_ + 2, stacked - limit, row - 2}, theme_.error, theme_.error).pattern = Qt::BDiagPattern;
    }
    drawing_.line({limit, top}, {limit, y_ + row + 3}, theme_.error, 2);
    y_ += row + 3;
    const QString capacity = format("capacity {}", size_text(replay_.capacity, look_.units()).toStdString());
    const QString says =
        exceeds ? capacity + format(", exceeded by {}",
                                    size_text(step_.ldm_bytes - replay_.capacity, look_.units()).toStdString())
                : capacity;
    const double wide = metrics.horizontalAdvance(says) + 2;
    // Below its line, and inside of the picture.
    const double at = std::clamp(limit - wide / 2, x, std::max(x, x + width - wide));
    drawing_.text({at, y_, wide, row}, says, theme_.error, font);
    y_ += row + 4;
    std::vector<LegendEntry> legend;
    if (kinds.contains(ModelBuffer::Kind::input)) {
      legend.push_back({QStringLiteral("fetched"), color_of(ReplayLine::Kind::get)});
    }
    if (kinds.contains(ModelBuffer::Kind::intermediate)) {
      legend.push_back({QStringLiteral("computed and used here only"), color_of(ReplayLine::Kind::compute)});
    }
    if (kinds.contains(ModelBuffer::Kind::output)) {
      legend.push_back({QStringLiteral("computed and stored"), color_of(ReplayLine::Kind::put)});
    }
    y_ += add_legend(drawing_, {x, y_}, x + width, legend, theme_.muted, theme_.line, font) + 10;
  }

  static QString heading_of(const LoopRound& round) {
    QStringList loops;
    for (const LoopCandidate& candidate : round.candidates) loops << qt(candidate.loop);
    return QStringLiteral("Which goes inside: ") + loops.join(QStringLiteral(", "));
  }

  /// What each loop would cost as the innermost of those without a place, side by side.
  void rounds(double x, double width) {
    for (const LoopRound& round : step_.rounds) {
      heading(x, width, heading_of(round), QStringLiteral("transfers on one core, if innermost"));
      table(round, x, width);
    }
  }

  void table(const LoopRound& round, double x, double width) {
    const QFont font = look_.smallFont();
    const QFontMetricsF metrics(font);
    const double row = row_of(font) + 1;
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
      if (candidate != nullptr && candidate->chosen) drawing_.rect({x, y_, width, row}, theme_.hover);
      double at = x + 4;
      for (std::size_t c = 0; c < widths.size(); ++c) {
        const QString& text = cells[i][static_cast<qsizetype>(c)];
        Mark& cell = drawing_.text({at, y_, widths[c] - 8, row}, text, i == 0 ? theme_.muted : theme_.text, font,
                                   (c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        cell.elide = Qt::ElideMiddle;
        cell.tip = text;
        at += widths[c];
      }
      if (candidate != nullptr && !remark_of(*candidate).isEmpty()) {
        const bool fits = at + remark < x + width;
        if (!fits) y_ += row - 2;
        const double from = fits ? at + 6 : x + 18;
        drawing_.text({from, y_, x + width - from, row}, remark_of(*candidate),
                      candidate->chosen ? theme_.text : theme_.muted, font);
      }
      y_ += row;
      if (i == 0) drawing_.line({x, y_}, {x + width, y_}, theme_.line);
    }
    y_ += 10;
  }

  /// What decided, in sentences of this operator's own numbers.
  void remarks(double x, double width) {
    for (const ReplayRemarks& remarks : step_.remarks) {
      heading(x, width, qt(remarks.heading));
      const QFont font = look_.textFont();
      for (const std::string& text : remarks.texts) {
        const QStringList lines = wrapped(qt(text), font, width - 16);
        drawing_.rect({x + 3, y_ + row_of(font) / 2 - 2, 4, 4}, theme_.muted);
        for (const QString& line : lines) {
          drawing_.text({x + 14, y_, width - 14, row_of(font)}, line, theme_.text, font);
          y_ += row_of(font) - 1;
        }
        y_ += 3;
      }
      y_ += 6;
    }
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
