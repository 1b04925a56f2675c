// SPDX-License-Identifier: Apache-2.0
#include "inspector/code/code_view.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace stowage::inspector {

namespace {

constexpr double code_margin = 8;
constexpr double gap = 12;

}  // namespace

CodeLayout layout_of(const CodeText& code, const Look& look) {
  const QFontMetricsF text(look.codeFont());
  const QFontMetricsF small(look.smallFont());
  CodeLayout layout;
  layout.line_height = std::ceil(text.height() + 3);
  layout.header_height = std::ceil(small.height() + 8);
  double x = code_margin;
  if (code.has_badges) {
    layout.badge_left = x;
    layout.badge_width = small.horizontalAdvance(QStringLiteral("wait")) + 12;
    x += layout.badge_width + gap;
  }
  for (std::size_t column = 0; column < code.gutter_titles.size(); ++column) {
    double width = small.horizontalAdvance(code.gutter_titles[column]);
    for (const CodeLine& line : code.lines) width = std::max(width, small.horizontalAdvance(line.gutter[column]));
    layout.gutter_left.push_back(x);
    layout.gutter_width.push_back(width + 1);
    x += width + 1 + gap;
  }
  if (code.has_costs) {
    layout.cost_left = x;
    layout.cost_width = std::ceil(9 * small.averageCharWidth());
    x += layout.cost_width + gap;
  }
  layout.text_left = x + 4;
  for (const CodeLine& line : code.lines) {
    layout.width = std::max(layout.width, layout.text_left + text.horizontalAdvance(line.text()) + code_margin);
  }
  return layout;
}

bool is_lit(const CodeLine& line, const Subject& subject) {
  if (!line.subject || line.subject->step != subject.step) return false;
  if (subject.statement) return line.subject->statement == subject.statement;
  return subject.buffer && std::find(line.buffers.begin(), line.buffers.end(), *subject.buffer) != line.buffers.end();
}

void paint_code_header(QPainter& painter, const CodeText& code, const CodeLayout& layout, const Look& look,
                       double width) {
  const Theme& theme = look.theme();
  painter.fillRect(QRectF(0, 0, width, layout.header_height), theme.raised);
  painter.setPen(theme.muted);
  painter.setFont(look.smallFont());
  const auto title = [&](double left, double room, const QString& text, Qt::Alignment side) {
    painter.drawText(QRectF(left, 0, room, layout.header_height), static_cast<int>(side | Qt::AlignVCenter), text);
  };
  for (std::size_t column = 0; column < code.gutter_titles.size(); ++column) {
    title(layout.gutter_left[column], layout.gutter_width[column], code.gutter_titles[column], Qt::AlignRight);
  }
  if (code.has_badges) title(layout.badge_left, layout.badge_width, QStringLiteral("DMA"), Qt::AlignHCenter);
  if (code.has_costs) title(layout.cost_left, layout.cost_width + 4, QStringLiteral("cost"), Qt::AlignLeft);
  painter.setPen(theme.line);
  painter.drawLine(QPointF(0, layout.header_height - 0.5), QPointF(width, layout.header_height - 0.5));
}

void paint_code(QPainter& painter, const CodeText& code, const CodeLayout& layout, const Look& look, int first,
                int last, const Subject& chosen, const Subject& hovered, double width) {
  const Theme& theme = look.theme();
  const QFont text_font = look.codeFont();
  const QFont small_font = look.smallFont();
  const QFontMetricsF text(text_font);
  const double height = layout.line_height;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(0, 0, layout.text_left - 6, height * (last - first)), theme.raised);
  for (int i = first; i < last; ++i) {
    const CodeLine& line = code.lines[static_cast<std::size_t>(i)];
    const double y = height * (i - first);
    if (is_lit(line, chosen)) {
      QColor light = theme.accent;
      light.setAlphaF(0.22F);
      painter.fillRect(QRectF(0, y, width, height), light);
      painter.fillRect(QRectF(0, y, 4, height), theme.accent);
    } else if (is_lit(line, hovered)) {
      painter.fillRect(QRectF(0, y, width, height), theme.hover);
    }
    painter.setFont(small_font);
    if (!line.badge.isEmpty()) {
      const QRectF badge(layout.badge_left, y + 2, layout.badge_width, height - 4);
      painter.setPen(Qt::NoPen);
      painter.setBrush(line.badge_color);
      painter.drawRoundedRect(badge, 3, 3);
      painter.setPen(theme.on(line.badge_color));
      painter.drawText(badge, Qt::AlignCenter, line.badge);
    }
    painter.setPen(theme.muted);
    for (std::size_t column = 0; column < line.gutter.size(); ++column) {
      painter.drawText(QRectF(layout.gutter_left[column], y, layout.gutter_width[column], height),
                       Qt::AlignRight | Qt::AlignVCenter, line.gutter[column]);
    }
    if (line.inclusive > 0) {
      // The outlined bar is the cost with everything inside, the filled one the line's own.
      const QRectF bar(layout.cost_left, y + 4, layout.cost_width, height - 8);
      const auto part = [&](double share) { return QRectF(bar.topLeft(), QSizeF(bar.width() * share, bar.height())); };
      painter.setPen(QPen(theme.heat(line.inclusive), 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(part(std::max(line.inclusive, 0.02)));
      if (line.own > 0) painter.fillRect(part(std::max(line.own, 0.02)), theme.heat(line.own));
    }
    painter.setFont(text_font);
    double x = layout.text_left;
    for (const CodeRun& run : line.runs) {
      painter.setPen(run.color);
      painter.drawText(QPointF(x, y + (height - text.height()) / 2 + text.ascent()), run.text);
      x += text.horizontalAdvance(run.text);
    }
  }
}

CodeView::CodeView(const Look& look, QWidget* parent) : QAbstractScrollArea(parent), look_(look) {
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void CodeView::setCode(CodeText code) {
  code_ = std::move(code);
  verticalScrollBar()->setValue(0);
  horizontalScrollBar()->setValue(0);
  refreshLayout();
  const auto first = std::find_if(code_.lines.begin(), code_.lines.end(),
                                  [](const CodeLine& line) { return line.subject.has_value(); });
  if (first == code_.lines.end()) return;
  const double top = layout_.line_height * static_cast<double>(first - code_.lines.begin());
  if (top > viewport()->height() / 2.0) verticalScrollBar()->setValue(static_cast<int>(top - 3 * layout_.line_height));
}

void CodeView::refreshLayout() {
  layout_ = layout_of(code_, look_);
  const double shown = viewport()->height() - layout_.header_height;
  verticalScrollBar()->setRange(
      0,
      std::max(0, static_cast<int>(std::ceil(layout_.line_height * static_cast<double>(code_.lines.size()) - shown))));
  verticalScrollBar()->setSingleStep(static_cast<int>(layout_.line_height));
  verticalScrollBar()->setPageStep(std::max(1, static_cast<int>(shown)));
  horizontalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(layout_.width)) - viewport()->width()));
  horizontalScrollBar()->setPageStep(viewport()->width());
  horizontalScrollBar()->setSingleStep(20);
  viewport()->update();
}

void CodeView::setLit(const Subject& chosen, const Subject& hovered) {
  const bool moved = !(chosen == chosen_);
  if (!moved && hovered == hovered_) return;
  chosen_ = chosen;
  hovered_ = hovered;
  if (moved) showLit();
  viewport()->update();
}

void CodeView::showLit() {
  for (std::size_t i = 0; i < code_.lines.size(); ++i) {
    if (!is_lit(code_.lines[i], chosen_)) continue;
    const double top = layout_.line_height * static_cast<double>(i);
    const double room = viewport()->height() - layout_.header_height;
    const int value = verticalScrollBar()->value();
    // Scroll only if it is out of sight, and then to the upper third, so that what follows is seen too.
    if (top < value || top + layout_.line_height > value + room) {
      verticalScrollBar()->setValue(static_cast<int>(top - room / 3));
    }
    return;
  }
}

QPoint CodeView::pointOf(int line) const {
  return {viewport()->width() / 2,
          static_cast<int>(layout_.header_height + layout_.line_height * (line + 0.5)) - verticalScrollBar()->value()};
}

const CodeLine* CodeView::lineAt(QPointF position) const {
  const double y = position.y() - layout_.header_height + verticalScrollBar()->value();
  if (position.y() < layout_.header_height || y < 0) return nullptr;
  const auto index = static_cast<std::size_t>(y / layout_.line_height);
  return index < code_.lines.size() ? &code_.lines[index] : nullptr;
}

void CodeView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), look_.theme().base);
  if (code_.lines.empty()) return;
  const double width = std::max<double>(viewport()->width(), layout_.width);
  const int scrolled = verticalScrollBar()->value();
  const int first = static_cast<int>(scrolled / layout_.line_height);
  const int count = static_cast<int>(viewport()->height() / layout_.line_height) + 2;
  const int last = std::min(static_cast<int>(code_.lines.size()), first + count);
  painter.translate(-horizontalScrollBar()->value(), 0);
  painter.save();
  painter.translate(0, layout_.header_height + first * layout_.line_height - scrolled);
  if (first < last) paint_code(painter, code_, layout_, look_, first, last, chosen_, hovered_, width);
  painter.restore();
  paint_code_header(painter, code_, layout_, look_, width);
}

void CodeView::resizeEvent(QResizeEvent*) { refreshLayout(); }

bool CodeView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const CodeLine* line = lineAt(help->pos());
    if (line != nullptr && !line->tip.isEmpty()) {
      QToolTip::showText(help->globalPos(), line->tip, this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void CodeView::mousePressEvent(QMouseEvent* event) {
  const CodeLine* line = lineAt(event->position());
  if (event->button() == Qt::LeftButton && line != nullptr && line->subject) Q_EMIT chosen(*line->subject);
}

void CodeView::mouseReleaseEvent(QMouseEvent* event) { event->accept(); }

void CodeView::mouseMoveEvent(QMouseEvent* event) {
  const CodeLine* line = lineAt(event->position());
  Q_EMIT hovered(line != nullptr && line->subject ? *line->subject : Subject{});
}

void CodeView::leaveEvent(QEvent*) { Q_EMIT hovered(Subject{}); }

void CodeView::keyPressEvent(QKeyEvent* event) {
  const int direction = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  if (direction == 0 || code_.lines.empty()) return QAbstractScrollArea::keyPressEvent(event);
  const int count = static_cast<int>(code_.lines.size());
  int from = direction > 0 ? -1 : count;
  for (int i = 0; i < count; ++i) {
    if (!is_lit(code_.lines[static_cast<std::size_t>(i)], chosen_)) continue;
    from = i;
    if (direction < 0) break;
  }
  for (int i = from + direction; i >= 0 && i < count; i += direction) {
    const CodeLine& line = code_.lines[static_cast<std::size_t>(i)];
    if (!line.subject) continue;
    Q_EMIT chosen(*line.subject);
    return;
  }
}

}  // namespace stowage::inspector
