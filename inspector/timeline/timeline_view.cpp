// SPDX-License-Identifier: Apache-2.0
#include "inspector/timeline/timeline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace stowage::inspector {

namespace {

constexpr std::int64_t fewest_cycles = 16;  ///< that fill the width
constexpr double key_zoom = 1.25;           ///< of zooming by a key

}  // namespace

TimelineView::TimelineView(const Look& look, QWidget* parent) : DrawingView(look, parent) {}

void TimelineView::setWhole(std::int64_t cycles) {
  if (whole_ == cycles && to_ > 0) return;
  whole_ = cycles;
  setCursorCycle(-1);
  from_ = span_from_ = span_to_ = 0;
  to_ = cycles;
}

void TimelineView::setAxis(double left, double right) {
  left_ = left;
  right_ = std::max(left + 1, right);
}

std::int64_t TimelineView::cycleAt(double x) const {
  const double part = (x - left_ + horizontalScrollBar()->value()) / (right_ - left_);
  return from_ + static_cast<std::int64_t>(std::llround(part * static_cast<double>(to_ - from_)));
}

void TimelineView::showAll() { showCycles(0, whole_); }

void TimelineView::showCycles(std::int64_t from, std::int64_t to) {
  const std::int64_t length = std::clamp(to - from, std::min(fewest_cycles, whole_), whole_);
  const std::int64_t begin = std::clamp<std::int64_t>(from, 0, whole_ - length);
  if (begin == from_ && begin + length == to_) return;
  from_ = begin;
  to_ = begin + length;
  rebuild();
  Q_EMIT viewChanged();
}

void TimelineView::zoom(double factor, double x) {
  const double part = std::clamp((x - left_ + horizontalScrollBar()->value()) / (right_ - left_), 0.0, 1.0);
  const auto length = static_cast<double>(to_ - from_);
  const double wanted =
      std::clamp(length / factor, static_cast<double>(std::min(fewest_cycles, whole_)), static_cast<double>(whole_));
  const double begin = static_cast<double>(from_) + part * (length - wanted);
  const auto first = static_cast<std::int64_t>(std::llround(begin));
  showCycles(first, first + static_cast<std::int64_t>(std::llround(wanted)));
}

void TimelineView::pan(double part) {
  const auto by = static_cast<std::int64_t>(std::llround(part * static_cast<double>(to_ - from_)));
  showCycles(from_ + by, to_ + by);
}

void TimelineView::selectSpan(std::int64_t from, std::int64_t to) {
  const std::int64_t first = std::clamp<std::int64_t>(std::min(from, to), 0, whole_);
  const std::int64_t last = std::clamp<std::int64_t>(std::max(from, to), 0, whole_);
  if (first == span_from_ && last == span_to_) return;
  span_from_ = first;
  span_to_ = last;
  rebuild();
  Q_EMIT spanChanged();
}

void TimelineView::setCursorCycle(std::int64_t cycle) {
  const std::int64_t wanted = cycle < 0 || whole_ == 0 ? -1 : std::min(cycle, whole_);
  if (wanted == cursor_) return;
  cursor_ = wanted;
  if (auto marks = cursor_marks_ ? cursor_marks_() : std::nullopt) {
    setPassing(*std::move(marks));
  } else {
    rebuild();
  }
  Q_EMIT cursorChanged();
}

bool TimelineView::isAtCursor(double x) const {
  if (cursor_ < from_ || cursor_ > to_) return false;
  constexpr double reach = 5;
  const double at = left_ + (right_ - left_) * static_cast<double>(cursor_ - from_) / static_cast<double>(to_ - from_);
  return std::abs(x + horizontalScrollBar()->value() - at) <= reach;
}

/// By a part of what is shown, and so that it stays in sight.
void TimelineView::moveCursor(double part) {
  if (whole_ == 0) return;
  const auto shown = static_cast<double>(to_ - from_);
  const auto least = static_cast<std::int64_t>(part < 0 ? -1 : 1);
  const auto by = static_cast<std::int64_t>(std::llround(part * shown));
  const std::int64_t begin = cursor_ < 0 ? from_ : cursor_;
  setCursorCycle(std::max<std::int64_t>(0, begin + (by == 0 ? least : by)));
  showCursor();
}

void TimelineView::showCursor() {
  if (cursor_ < 0 || (cursor_ >= from_ && cursor_ <= to_)) return;
  const std::int64_t half = (to_ - from_) / 2;
  showCycles(cursor_ - half, cursor_ - half + (to_ - from_));
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPoint turned = event->angleDelta();
  if ((event->modifiers() & Qt::AltModifier) != 0U || turned.y() == 0) {
    pan(-turned.x() / 960.0);
  } else if ((event->modifiers() & Qt::ShiftModifier) != 0U) {
    verticalScrollBar()->setValue(verticalScrollBar()->value() - turned.y() / 2);
  } else {
    zoom(std::exp2(turned.y() / 240.0), event->position().x());
  }
  event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  pressed_ = event->position();
  pressed_from_ = from_;
  pressed_cycle_ = cycleAt(pressed_.x());
  const bool selects = (event->modifiers() & Qt::ShiftModifier) != 0U;
  drag_ = selects ? Drag::selects : isAtCursor(pressed_.x()) ? Drag::moves_cursor : Drag::pressed;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF way = event->position() - pressed_;
  constexpr double least_way = 4;
  if (drag_ == Drag::pressed && way.manhattanLength() >= least_way) drag_ = Drag::pans;
  if (drag_ == Drag::pans) {
    viewport()->setCursor(Qt::ClosedHandCursor);
    const double cycles = way.x() * static_cast<double>(to_ - from_) / (right_ - left_);
    const std::int64_t first = pressed_from_ - static_cast<std::int64_t>(std::llround(cycles));
    showCycles(first, first + (to_ - from_));
    return;
  }
  if (drag_ == Drag::selects) return selectSpan(pressed_cycle_, cycleAt(event->position().x()));
  if (drag_ == Drag::moves_cursor) {
    return setCursorCycle(std::clamp<std::int64_t>(cycleAt(event->position().x()), 0, whole_));
  }
  if (drag_ != Drag::none) return;
  DrawingView::mouseMoveEvent(event);
  if (isAtCursor(event->position().x())) viewport()->setCursor(Qt::SplitHCursor);
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag ended = std::exchange(drag_, Drag::none);
  if (ended == Drag::pressed) {
    DrawingView::mousePressEvent(event);
    const double x = event->position().x() + horizontalScrollBar()->value();
    if (event->button() == Qt::LeftButton && x >= left_ && x <= right_) setCursorCycle(cycleAt(event->position().x()));
  }
  if (ended == Drag::pans) viewport()->setCursor(Qt::ArrowCursor);
  event->accept();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  constexpr double closer = 4;
  zoom(closer, event->position().x());
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  constexpr double part = 0.15;
  constexpr double cursor_part = 0.005;
  switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoom(key_zoom, middle());
    case Qt::Key_S:
    case Qt::Key_Minus: return zoom(1 / key_zoom, middle());
    case Qt::Key_A: return pan(-part);
    case Qt::Key_D: return pan(part);
    case Qt::Key_F: return showAll();
    case Qt::Key_Comma: return moveCursor(-cursor_part);
    case Qt::Key_Period: return moveCursor(cursor_part);
    case Qt::Key_Less:
    case Qt::Key_Semicolon: return Q_EMIT changeWanted(-1);
    case Qt::Key_Greater:
    case Qt::Key_Colon: return Q_EMIT changeWanted(1);
    case Qt::Key_Escape:
      if (span_to_ > span_from_) return selectSpan(0, 0);
      if (cursor_ >= 0) return setCursorCycle(-1);
      break;
    default: break;
  }
  DrawingView::keyPressEvent(event);
}

}  // namespace stowage::inspector
