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
  drag_ = (event->modifiers() & Qt::ShiftModifier) != 0U ? Drag::selects : Drag::pressed;
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
  if (drag_ == Drag::none) DrawingView::mouseMoveEvent(event);
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag ended = std::exchange(drag_, Drag::none);
  if (ended == Drag::pressed) DrawingView::mousePressEvent(event);
  if (ended == Drag::pans) viewport()->setCursor(Qt::ArrowCursor);
  event->accept();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  constexpr double closer = 4;
  zoom(closer, event->position().x());
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  constexpr double part = 0.15;
  switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoom(key_zoom, middle());
    case Qt::Key_S:
    case Qt::Key_Minus: return zoom(1 / key_zoom, middle());
    case Qt::Key_A: return pan(-part);
    case Qt::Key_D: return pan(part);
    case Qt::Key_F: return showAll();
    case Qt::Key_Escape:
      if (span_to_ > span_from_) return selectSpan(0, 0);
      break;
    default: break;
  }
  DrawingView::keyPressEvent(event);
}

}  // namespace stowage::inspector
