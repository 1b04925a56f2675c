// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/drawing_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>

namespace stowage::inspector {

DrawingView::DrawingView(const Look& look, QWidget* parent) : QAbstractScrollArea(parent), look_(look) {
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void DrawingView::setBuilder(Builder builder) {
  builder_ = std::move(builder);
  rebuild();
}

void DrawingView::setLit(const Subject& chosen, const Subject& hovered) {
  if (chosen == chosen_ && hovered == hovered_) return;
  chosen_ = chosen;
  hovered_ = hovered;
  viewport()->update();
}

void DrawingView::setItem(std::optional<int> item) {
  if (item == item_) return;
  item_ = item;
  viewport()->update();
}

void DrawingView::rebuild() {
  // For the room without scroll bars first; where it is too high, once more for the narrower room.
  const QSize room = maximumViewportSize();
  drawing_ = build(room);
  if (drawing_.size.height() > room.height() + 0.5) {
    drawing_ = build(QSizeF(room.width() - verticalScrollBar()->sizeHint().width(), room.height()));
  }
  const QSize shown = viewport()->size();
  horizontalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(drawing_.size.width())) - room.width()));
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(drawing_.size.height())) - room.height()));
  horizontalScrollBar()->setPageStep(shown.width());
  verticalScrollBar()->setPageStep(shown.height());
  verticalScrollBar()->setSingleStep(24);
  horizontalScrollBar()->setSingleStep(24);
  viewport()->update();
}

void DrawingView::setPassing(std::vector<Mark> marks) {
  const auto update = [&](const Mark& mark) {
    viewport()->update(mark.painted().translated(origin()).toAlignedRect());
  };
  const auto first = drawing_.marks.end() - static_cast<std::ptrdiff_t>(drawing_.passing);
  std::for_each(first, drawing_.marks.end(), update);
  drawing_.marks.erase(first, drawing_.marks.end());
  drawing_.passing = marks.size();
  for (Mark& mark : marks) {
    update(mark);
    drawing_.marks.push_back(std::move(mark));
  }
}

QPointF DrawingView::origin() const {
  return {-1.0 * horizontalScrollBar()->value(), -1.0 * verticalScrollBar()->value()};
}

const Mark* DrawingView::markAt(QPointF position) const { return drawing_.at(position - origin()); }

std::optional<int> DrawingView::itemAt(QPointF position) const {
  constexpr double reach = 9;
  std::optional<int> found;
  double nearest = reach;
  for (const Mark& mark : drawing_.marks) {
    if (!mark.item) continue;
    const QPointF way = mark.bounds().center() - (position - origin());
    const double distance = std::hypot(way.x(), way.y());
    if (distance > nearest) continue;
    nearest = distance;
    found = mark.item;
  }
  return found;
}

void paint_lit(QPainter& painter, const Drawing& drawing, const Subject& chosen, const Subject& hovered,
               const Theme& theme) {
  const auto outline = [&](const Mark& mark, double width, const QColor& color) {
    if (mark.kind == Mark::Kind::text) return;
    painter.setPen(QPen(color, width));
    painter.setBrush(Qt::NoBrush);
    if (mark.kind == Mark::Kind::ellipse) {
      painter.drawEllipse(mark.rect.adjusted(-1, -1, 1, 1));
    } else if (mark.kind == Mark::Kind::line) {
      painter.drawPolyline(mark.points);
    } else {
      painter.drawRoundedRect(mark.bounds(), mark.radius, mark.radius);
    }
  };
  for (const Mark& mark : drawing.marks) {
    if (mark.subject && hovered != Subject{} && holds(*mark.subject, hovered)) outline(mark, 1.5, theme.muted);
  }
  for (const Mark& mark : drawing.marks) {
    if (mark.subject && holds(*mark.subject, chosen)) outline(mark, 2.5, theme.dark ? QColor(Qt::white) : theme.text);
  }
}

void DrawingView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.fillRect(event->rect(), look_.theme().base);
  painter.translate(origin());
  paint(painter, drawing_, QRectF(event->rect()).translated(-origin()));
  paint_lit(painter, drawing_, chosen_, hovered_, look_.theme());
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(look_.theme().accent, 2.5));
  for (const Mark& mark : drawing_.marks) {
    constexpr double around = 2;
    if (item_ && mark.item == item_) painter.drawEllipse(mark.bounds().adjusted(-around, -around, around, around));
  }
}

void DrawingView::resizeEvent(QResizeEvent*) { rebuild(); }

bool DrawingView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Mark* mark = markAt(help->pos());
    if (mark != nullptr && !mark->tip.isEmpty()) {
      QToolTip::showText(help->globalPos(), mark->tip, this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void DrawingView::mousePressEvent(QMouseEvent* event) {
  const Mark* mark = markAt(event->position());
  if (event->button() == Qt::LeftButton && mark != nullptr && mark->subject) Q_EMIT chosen(*mark->subject);
  if (const auto item = itemAt(event->position()); event->button() == Qt::LeftButton && item) {
    Q_EMIT itemChosen(*item);
  }
}

void DrawingView::mouseDoubleClickEvent(QMouseEvent* event) {
  const auto item = itemAt(event->position());
  if (event->button() != Qt::LeftButton || !item) return mousePressEvent(event);
  Q_EMIT itemActivated(*item);
}

void DrawingView::mouseReleaseEvent(QMouseEvent* event) { event->accept(); }

void DrawingView::mouseMoveEvent(QMouseEvent* event) {
  const Mark* mark = markAt(event->position());
  const bool stands_for_something = (mark != nullptr && mark->subject) || itemAt(event->position());
  viewport()->setCursor(stands_for_something ? Qt::PointingHandCursor : Qt::ArrowCursor);
  Q_EMIT hovered(mark != nullptr && mark->subject ? *mark->subject : Subject{});
}

void DrawingView::leaveEvent(QEvent*) { Q_EMIT hovered(Subject{}); }

void DrawingView::step(QPointF direction) {
  // The nearest mark in that direction from the chosen one; from nothing, the first.
  const Mark* from = nullptr;
  for (const Mark& mark : drawing_.marks) {
    if (mark.subject && holds(*mark.subject, chosen_)) from = &mark;
  }
  const Mark* best = nullptr;
  double nearest = std::numeric_limits<double>::max();
  for (const Mark& mark : drawing_.marks) {
    if (!mark.subject || (from != nullptr && *mark.subject == *from->subject)) continue;
    if (from == nullptr) {
      best = &mark;
      break;
    }
    const QPointF way = mark.bounds().center() - from->bounds().center();
    const double along = QPointF::dotProduct(way, direction);
    if (along <= 0.5) continue;
    const double aside = std::abs(way.x() * direction.y() - way.y() * direction.x());
    if (along + 2 * aside < nearest) {
      nearest = along + 2 * aside;
      best = &mark;
    }
  }
  if (best == nullptr) return;
  const QRectF bounds = best->bounds().translated(origin());
  if (bounds.top() < 0)
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(bounds.top()) - 8);
  const double below = bounds.bottom() - viewport()->height();
  if (below > 0) verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(below) + 8);
  Q_EMIT chosen(*best->subject);
}

bool DrawingView::stepItem(int direction) {
  std::set<int> items;
  for (const Mark& mark : drawing_.marks) {
    if (mark.item) items.insert(*mark.item);
  }
  if (items.empty()) return false;
  auto next = items.begin();
  if (item_) {
    next = direction > 0 ? items.upper_bound(*item_) : items.lower_bound(*item_);
    if (direction > 0 ? next == items.end() : next == items.begin()) return true;
    if (direction < 0) --next;
  }
  Q_EMIT itemChosen(*next);
  return true;
}

void DrawingView::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  if ((key == Qt::Key_Left || key == Qt::Key_Right) && stepItem(key == Qt::Key_Left ? -1 : 1)) return;
  if ((key == Qt::Key_Return || key == Qt::Key_Enter) && item_) {
    Q_EMIT itemActivated(*item_);
    return;
  }
  switch (key) {
    case Qt::Key_Left: return step({-1, 0});
    case Qt::Key_Right: return step({1, 0});
    case Qt::Key_Up: return step({0, -1});
    case Qt::Key_Down: return step({0, 1});
    default: QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace stowage::inspector
