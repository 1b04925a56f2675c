// SPDX-License-Identifier: Apache-2.0
// One core's LDM as a step leaves it: a bar for every buffer, and all of them one behind the other against the
// capacity.
#include <algorithm>
#include <set>

#include "inspector/replay/replay_sheet.h"

namespace stowage::inspector {

namespace {

QString label_of(const ReplayBuffer& buffer) { return format("{} [{}]", buffer.tensor, buffer.extents); }

class LdmBars {
 public:
  LdmBars(ReplaySheet& sheet, const Replay& replay, const ReplayStep& step, double x, double width)
      : sheet_(sheet),
        replay_(replay),
        step_(step),
        x_(x),
        width_(width),
        font_(sheet.look.smallFont()),
        row_(ReplaySheet::row_of(font_) + 2) {
    const QFontMetricsF metrics(font_);
    names_ = metrics.horizontalAdvance(QStringLiteral("rounding up"));
    double sizes = metrics.horizontalAdvance(size(replay.max_bytes()));
    for (const ReplayBuffer& buffer : step.buffers) {
      names_ = std::max(names_, metrics.horizontalAdvance(label_of(buffer)));
      sizes = std::max(sizes, metrics.horizontalAdvance(size(buffer.bytes)));
      if (buffer.inside.empty()) rounding_ += buffer.taken - buffer.bytes;
    }
    names_ = std::min(names_, width * 0.42) + 10;
    left_ = x + names_;
    right_ = x + width - sizes - 8;
    // The LDM fills most of the width; what is tried beyond it is cut at the edge, its number tells how much it was.
    scale_ = (right_ - left_) / static_cast<double>(replay.shown_bytes());
  }

  void run() {
    const double top = sheet_.y;
    const double total_y = top + row_ * static_cast<double>(step_.buffers.size() + (rounding_ > 0 ? 1 : 0)) + 2;
    double stacked = left_;
    for (const ReplayBuffer& buffer : step_.buffers) stacked = add_buffer(buffer, stacked, total_y);
    if (rounding_ > 0) {
      name(QStringLiteral("rounding up"), sheet_.look.theme().muted);
      inside(format("every buffer begins at a multiple of {} B", replay_.alignment));
      number(QStringLiteral("+") + size(rounding_), sheet_.look.theme().muted);
    }
    sheet_.y = total_y;
    name(QStringLiteral("all"), sheet_.look.theme().text);
    number(size(step_.ldm_bytes), sheet_.look.theme().text);
    add_capacity(top, stacked);
    add_colours();
  }

 private:
  [[nodiscard]] QString size(std::int64_t bytes) const { return size_text(bytes, sheet_.look.units()); }

  Mark& name(const QString& text, const QColor& color) {
    return sheet_.drawing.text({x_ + 2, sheet_.y, names_ - 6, row_}, text, color, font_);
  }
  void inside(const QString& text) {
    sheet_.drawing.text({left_ + 2, sheet_.y, right_ - left_ - 4, row_}, text, sheet_.look.theme().muted, font_);
  }
  void number(const QString& text, const QColor& color) {
    sheet_.drawing.text({right_ + 4, sheet_.y, x_ + width_ - right_ - 4, row_}, text, color, font_,
                        Qt::AlignRight | Qt::AlignVCenter);
  }
  /// Where it ends.
  double bar(double from, double y, double bytes, double height, const QColor& fill) {
    const double to = std::min(from + bytes * scale_, right_);
    if (to > from) sheet_.drawing.rect({from, y + 2, to - from, height}, fill, sheet_.look.theme().line);
    return to;
  }

  /// Its own bar, and its part of the bar of all, which begins at `stacked`; where that part ends.
  double add_buffer(const ReplayBuffer& buffer, double stacked, double total_y) {
    const Theme& theme = sheet_.look.theme();
    if (buffer.changed) sheet_.drawing.rect({x_ - 4, sheet_.y, 4, row_}, theme.accent);
    Mark& label = name(label_of(buffer), theme.text);
    label.elide = Qt::ElideMiddle;
    label.tip = label_of(buffer) + QStringLiteral(": ") + size(buffer.bytes);
    number(size(buffer.bytes), theme.muted);
    if (buffer.inside.empty()) {
      const QColor fill = sheet_.color_of(buffer);
      bar(left_, sheet_.y, std::max(static_cast<double>(buffer.bytes), 1.5 / scale_), row_ - 4, fill);
      stacked = bar(stacked, total_y, static_cast<double>(buffer.taken), row_ - 2, fill);
    } else {
      inside(format("in the place of {}", buffer.inside));
    }
    sheet_.y += row_;
    return stacked;
  }

  /// The line at the capacity, what exceeds it, and how much that is.
  void add_capacity(double top, double stacked) {
    const Theme& theme = sheet_.look.theme();
    const double limit = left_ + static_cast<double>(replay_.capacity) * scale_;
    const std::int64_t beyond = step_.ldm_bytes - replay_.capacity;
    if (beyond > 0) {
      sheet_.drawing.rect({limit, sheet_.y + 2, stacked - limit, row_ - 2}, theme.error, theme.error).pattern =
          Qt::BDiagPattern;
    }
    sheet_.drawing.line({limit, top}, {limit, sheet_.y + row_ + 3}, theme.error, 2);
    sheet_.y += row_ + 3;
    QString says = QStringLiteral("capacity ") + size(replay_.capacity);
    if (beyond > 0) says += QStringLiteral(", exceeded by ") + size(beyond);
    const double wide = QFontMetricsF(font_).horizontalAdvance(says) + 2;
    // Below its line, and inside of the picture.
    const double at = std::clamp(limit - wide / 2, x_, std::max(x_, x_ + width_ - wide));
    sheet_.drawing.text({at, sheet_.y, wide, row_}, says, theme.error, font_);
    sheet_.y += row_ + 4;
  }

  void add_colours() {
    std::set<ModelBuffer::Kind> kinds;
    for (const ReplayBuffer& buffer : step_.buffers) kinds.insert(buffer.kind);
    std::vector<LegendEntry> legend;
    if (kinds.contains(ModelBuffer::Kind::input)) {
      legend.push_back({QStringLiteral("fetched"), sheet_.color_of(ReplayLine::Kind::get)});
    }
    if (kinds.contains(ModelBuffer::Kind::intermediate)) {
      legend.push_back({QStringLiteral("computed and used here only"), sheet_.color_of(ReplayLine::Kind::compute)});
    }
    if (kinds.contains(ModelBuffer::Kind::output)) {
      legend.push_back({QStringLiteral("computed and stored"), sheet_.color_of(ReplayLine::Kind::put)});
    }
    const Theme& theme = sheet_.look.theme();
    sheet_.y += 10 + add_legend(sheet_.drawing, {x_, sheet_.y}, x_ + width_, legend, theme.muted, theme.line, font_);
  }

  ReplaySheet& sheet_;
  const Replay& replay_;
  const ReplayStep& step_;
  double x_;
  double width_;
  QFont font_;
  double row_;
  double names_ = 0;           ///< width of the column of names
  double left_ = 0;            ///< of the bars
  double right_ = 0;           ///< of the bars; sizes stand beyond
  double scale_ = 0;           ///< width of a byte
  std::int64_t rounding_ = 0;  ///< bytes between the buffers
};

}  // namespace

void add_ldm(ReplaySheet& sheet, const Replay& replay, const ReplayStep& step, double x, double width) {
  sheet.heading(x, width, QStringLiteral("LDM of one core"),
                replay.capacity == 0   ? QStringLiteral("no loop nest: nothing is planned of it")
                : step.is_text         ? QStringLiteral("not kept by the version that wrote this plan")
                : step.buffers.empty() ? QStringLiteral("no buffers yet: algorithm 1 sizes them")
                                       : size_text(step.ldm_bytes, sheet.look.units()) + QStringLiteral(" of ") +
                                             size_text(replay.capacity, sheet.look.units()));
  if (step.buffers.empty()) {
    sheet.y += 8;
  } else {
    LdmBars(sheet, replay, step, x, width).run();
  }
}

}  // namespace stowage::inspector
