// SPDX-License-Identifier: Apache-2.0
// What is in sight, and how mouse and keys change that. (What is painted: graph_view_paint.cpp.)
#include "inspector/graph/graph_view.h"
#include "core/index.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>

namespace stowage::inspector {

namespace {

constexpr double smallest_zoom = 0.0002;
constexpr double largest_zoom = 4;
constexpr double graph_margin = 16;

}  // namespace

GraphView::GraphView(const Look& look, QWidget* parent) : QWidget(parent), look_(look) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(160, 120);
  setAttribute(Qt::WA_OpaquePaintEvent);
}

void GraphView::setPicture(PicturePtr picture, bool keep_sight) {
  const QPointF middle = room().center();
  // What is chosen keeps its place on the screen; without it, the same share of the way through the picture does.
  const int before = picture_ ? picture_->find(chosen_) : -1;
  QPointF where = middle;
  QPointF share(0.5, 0.5);
  if (picture_ && before >= 0) {
    where = fromPicture(picture_->nodes[at(before)].rect.center());
  } else if (picture_ && picture_->bounds.height() > 0) {
    share.setY((toPicture(middle).y() - picture_->bounds.top()) / picture_->bounds.height());
  }
  const bool had = picture_ != nullptr && !picture_->nodes.empty();
  picture_ = std::move(picture);
  matches_.clear();
  is_match_.clear();
  current_match_ = -1;
  minimap_ = QPixmap();
  index();
  chosen_node_ = picture_ ? picture_->find(chosen_) : -1;
  if (picture_ && sight_ == Sight::fitted && keep_sight) {
    fit();
  } else if (!picture_ || sight_ == Sight::start || !keep_sight || !had) {
    start();
  } else {
    QPointF anchor(picture_->bounds.center().x(), picture_->bounds.top() + share.y() * picture_->bounds.height());
    if (before >= 0 && chosen_node_ >= 0) anchor = picture_->nodes[at(chosen_node_)].rect.center();
    origin_ = where - anchor * scale_;
    clampSight();
  }
  update();
}

void GraphView::setColours(IdVector<StepId, NodeColour> colours) {
  colours_ = std::move(colours);
  minimap_ = QPixmap();
  update();
}

void GraphView::setLit(const Subject& chosen, const Subject& hovered) {
  if (chosen == chosen_ && hovered == hovered_) return;
  const bool other = chosen != chosen_;
  chosen_ = chosen;
  hovered_ = hovered;
  if (other && picture_) {
    chosen_node_ = picture_->find(chosen_);
    if (sight_ == Sight::start) {
      start();
    } else if (chosen_node_ >= 0) {
      reveal(chosen_node_);
    }
  }
  update();
}

void GraphView::setMatches(std::vector<int> nodes, int current) {
  matches_ = std::move(nodes);
  current_match_ = current;
  is_match_.assign(picture_ ? picture_->nodes.size() : 0, false);
  for (const int node : matches_) is_match_[at(node)] = true;
  update();
}

void GraphView::index() {
  node_cells_.clear();
  edge_cells_.clear();
  columns_ = rows_ = 0;
  if (!picture_) return;
  const QRectF& bounds = picture_->bounds;
  cell_ = std::max(512.0, std::sqrt(bounds.width() * bounds.height() / 40000));
  columns_ = static_cast<int>(bounds.width() / cell_) + 1;
  rows_ = static_cast<int>(bounds.height() / cell_) + 1;
  node_cells_.resize(at(columns_) * at(rows_));
  edge_cells_.resize(node_cells_.size());
  node_stamp_.assign(picture_->nodes.size(), 0);
  edge_stamp_.assign(picture_->edges.size(), 0);
  stamp_ = 0;
  const auto put = [&](std::vector<std::vector<int>>& cells, const QRectF& box, int item) {
    const auto cell_of = [&](double value, int count) {
      return std::clamp(static_cast<int>(value / cell_), 0, count - 1);
    };
    const QRectF local = box.translated(-bounds.topLeft());
    for (int y = cell_of(local.top(), rows_); y <= cell_of(local.bottom(), rows_); ++y) {
      for (int x = cell_of(local.left(), columns_); x <= cell_of(local.right(), columns_); ++x) {
        auto& cell = cells[at(y * columns_ + x)];
        if (cell.empty() || cell.back() != item) cell.push_back(item);
      }
    }
  };
  for (std::size_t i = 0; i < picture_->nodes.size(); ++i) {
    put(node_cells_, picture_->nodes[i].rect, static_cast<int>(i));
  }
  for (std::size_t e = 0; e < picture_->edges.size(); ++e) {
    const GraphEdge& edge = picture_->edges[e];
    for (std::size_t p = 0; p + 3 < edge.path.size(); p += 3) {
      put(edge_cells_, QRectF(edge.path[p], edge.path[p + 3]).normalized(), static_cast<int>(e));
    }
    if (edge.labelled) put(edge_cells_, edge.label, static_cast<int>(e));
  }
}

void GraphView::collect(const QRectF& sight, std::vector<int>& nodes, std::vector<int>& edges) {
  if (!picture_) return;
  ++stamp_;
  const QRectF local = sight.translated(-picture_->bounds.topLeft());
  const int left = std::max(0, static_cast<int>(std::floor(local.left() / cell_)));
  const int right = std::min(columns_ - 1, static_cast<int>(std::floor(local.right() / cell_)));
  const int top = std::max(0, static_cast<int>(std::floor(local.top() / cell_)));
  const int bottom = std::min(rows_ - 1, static_cast<int>(std::floor(local.bottom() / cell_)));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      for (const int node : node_cells_[at(y * columns_ + x)]) {
        if (std::exchange(node_stamp_[at(node)], stamp_) != stamp_) nodes.push_back(node);
      }
      for (const int edge : edge_cells_[at(y * columns_ + x)]) {
        if (std::exchange(edge_stamp_[at(edge)], stamp_) != stamp_) edges.push_back(edge);
      }
    }
  }
  std::sort(nodes.begin(), nodes.end());  // boxes before what is inside
}

void GraphView::lookAtMinimap(QPointF position) {
  const QRectF frame = minimapRect();
  if (frame.isEmpty()) return;
  const QPointF share((position.x() - frame.left()) / frame.width(), (position.y() - frame.top()) / frame.height());
  const QRectF& bounds = picture_->bounds;
  const QPointF point(bounds.left() + share.x() * bounds.width(), bounds.top() + share.y() * bounds.height());
  origin_ = room().center() - point * scale_;
  sight_ = Sight::free;
  clampSight();
  update();
}

void GraphView::clampSight() {
  if (!picture_) return;
  // Something of the picture stays in sight; a picture narrower than the view stands in its middle.
  const QRectF& bounds = picture_->bounds;
  const auto clamped = [](double origin, double low, double length, double space, double scale) {
    if (length * scale <= space - 2 * graph_margin) return (space - length * scale) / 2 - low * scale;
    return std::clamp(origin, space - graph_margin - (low + length) * scale, graph_margin - low * scale);
  };
  const QRectF seen = room();
  origin_ = {clamped(origin_.x(), bounds.left(), bounds.width(), seen.width(), scale_),
             clamped(origin_.y(), bounds.top(), bounds.height(), seen.height(), scale_)};
}

void GraphView::fit() {
  sight_ = Sight::fitted;
  if (!picture_ || picture_->bounds.isEmpty()) return;
  const QRectF& bounds = picture_->bounds;
  scale_ = std::clamp(
      std::min((width() - 2 * graph_margin) / bounds.width(), (height() - 2 * graph_margin) / bounds.height()),
      smallest_zoom, 1.0);
  clampSight();
  update();
}

void GraphView::start() {
  fit();
  sight_ = Sight::start;
  constexpr double readable = 0.75;
  if (!picture_ || picture_->bounds.isEmpty() || scale_ >= text_scale) return;
  scale_ = readable;
  // Without anything chosen, where the network begins, which need not be above the middle of all of it.
  const auto first =
      std::min_element(picture_->nodes.begin(), picture_->nodes.end(),
                       [](const GraphNode& a, const GraphNode& b) { return a.rect.top() < b.rect.top(); });
  const QPointF point = chosen_node_ >= 0                ? picture_->nodes[at(chosen_node_)].rect.center()
                        : first != picture_->nodes.end() ? QPointF(first->rect.center().x(), first->rect.top())
                                                         : picture_->bounds.center();
  origin_ = room().center() - point * scale_;
  clampSight();
  update();
}

void GraphView::setActualSize() {
  const int node = chosen_node_;
  QPointF point = toPicture(room().center());
  if (node >= 0) point = picture_->nodes[at(node)].rect.center();
  scale_ = 1;
  origin_ = room().center() - point;
  sight_ = Sight::free;
  clampSight();
  update();
}

void GraphView::zoomBy(double factor, QPointF around) {
  const QPointF point = toPicture(around);
  scale_ = std::clamp(scale_ * factor, smallest_zoom, largest_zoom);
  origin_ = around - point * scale_;
  sight_ = Sight::free;
  clampSight();
  update();
}

void GraphView::panBy(QPointF way) {
  origin_ += way;
  sight_ = Sight::free;
  clampSight();
  update();
}

void GraphView::reveal(int node) {
  if (!picture_ || node < 0) return;
  const QRectF& box = picture_->nodes[at(node)].rect;
  const QRectF shown(fromPicture(box.topLeft()), box.size() * scale_);
  const QRectF seen = room();
  const QRectF inner = seen.adjusted(graph_margin, graph_margin, -graph_margin, -graph_margin);
  if (inner.contains(shown)) return;
  // From far away to the middle, from nearby only as far as needed.
  if (!seen.intersects(shown) || shown.height() > inner.height() || shown.width() > inner.width()) {
    const QPointF point = shown.height() > inner.height()
                              ? QPointF(box.center().x(), box.top() + inner.height() / 3 / scale_)
                              : box.center();
    origin_ = inner.center() - point * scale_;
  } else {
    origin_ += {std::max(0.0, inner.left() - shown.left()) - std::max(0.0, shown.right() - inner.right()),
                std::max(0.0, inner.top() - shown.top()) - std::max(0.0, shown.bottom() - inner.bottom())};
  }
  clampSight();
  update();
}

int GraphView::nodeAt(QPointF position) const {
  if (!picture_ || columns_ == 0 || !room().contains(position)) return -1;
  const QPointF point = toPicture(position);
  const QPointF local = point - picture_->bounds.topLeft();
  const int x = static_cast<int>(std::floor(local.x() / cell_));
  const int y = static_cast<int>(std::floor(local.y() / cell_));
  if (x < 0 || y < 0 || x >= columns_ || y >= rows_) return -1;
  int found = -1;
  for (const int node : node_cells_[at(y * columns_ + x)]) {
    if (picture_->nodes[at(node)].rect.contains(point)) found = std::max(found, node);
  }
  return found;
}

bool GraphView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QString text;
    if (const int node = nodeAt(help->pos()); node >= 0) {
      text = picture_->nodes[at(node)].tip;
    } else if (picture_ && room().contains(help->pos())) {
      // The edge whose path or label is nearby.
      const QPointF point = toPicture(help->pos());
      const double reach = 5 / scale_;
      std::vector<int> nodes;
      std::vector<int> edges;
      collect(QRectF(point - QPointF(reach, reach), QSizeF(2 * reach, 2 * reach)), nodes, edges);
      for (const int e : edges) {
        const GraphEdge& edge = picture_->edges[at(e)];
        QPainterPath path(edge.path.front());
        for (std::size_t p = 1; p + 2 < edge.path.size(); p += 3)
          path.cubicTo(edge.path[p], edge.path[p + 1], edge.path[p + 2]);
        QPainterPathStroker stroker;
        stroker.setWidth(2 * reach);
        if ((edge.labelled && edge.label.contains(point)) || stroker.createStroke(path).contains(point))
          text = edge.tip;
      }
    }
    if (text.isEmpty()) {
      QToolTip::hideText();
    } else {
      QToolTip::showText(help->globalPos(), text, this);
    }
    return true;
  }
  return QWidget::event(event);
}

void GraphView::resizeEvent(QResizeEvent*) {
  if (sight_ == Sight::fitted) {
    fit();
  } else if (sight_ == Sight::start) {
    start();
  } else {
    clampSight();
  }
}

void GraphView::wheelEvent(QWheelEvent* event) {
  zoomBy(std::exp2(event->angleDelta().y() / 480.0), event->position());
  event->accept();
}

void GraphView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  pressed_ = last_ = event->position();
  moved_ = false;
  dragging_minimap_ = minimapRect().contains(pressed_);
  dragging_ = !dragging_minimap_;
  if (dragging_minimap_) lookAtMinimap(pressed_);
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF position = event->position();
  if (dragging_minimap_) return lookAtMinimap(position);
  if (dragging_) {
    if (!moved_ && (position - pressed_).manhattanLength() < 4) return;
    moved_ = true;
    setCursor(Qt::ClosedHandCursor);
    panBy(position - std::exchange(last_, position));
    return;
  }
  const int node = nodeAt(position);
  setCursor(node >= 0 ? Qt::PointingHandCursor : Qt::OpenHandCursor);
  Q_EMIT hovered(node >= 0 ? picture_->nodes[at(node)].subject : Subject{});
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
  const bool click = dragging_ && !moved_ && event->button() == Qt::LeftButton;
  dragging_ = dragging_minimap_ = false;
  if (!click) return;
  const int node = nodeAt(event->position());
  if (node >= 0) Q_EMIT chosen(picture_->nodes[at(node)].subject);
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  const int node = nodeAt(event->position());
  if (node >= 0 && picture_->kind == GraphKind::fused && picture_->nodes[at(node)].step) {
    Q_EMIT flipped(*picture_->nodes[at(node)].step);
  }
}

void GraphView::leaveEvent(QEvent*) { Q_EMIT hovered(Subject{}); }

void GraphView::step(QPointF direction) {
  if (!picture_) return;
  int best = -1;
  if (chosen_node_ < 0) {
    for (std::size_t i = 0; i < picture_->nodes.size() && best < 0; ++i) {
      if (picture_->nodes[i].subject != Subject{}) best = static_cast<int>(i);
    }
  } else {
    const GraphNode& from = picture_->nodes[at(chosen_node_)];
    double nearest = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < picture_->nodes.size(); ++i) {
      const GraphNode& node = picture_->nodes[i];
      if (static_cast<int>(i) == chosen_node_ || node.subject == Subject{}) continue;
      // Among the group's own operators, or among the groups; up and down in a column.
      if (node.around != from.around || (direction.y() != 0 && node.column != from.column)) continue;
      const QPointF way = node.rect.center() - from.rect.center();
      const double along = QPointF::dotProduct(way, direction);
      if (along <= 0.5) continue;
      const double aside = std::abs(way.x() * direction.y() - way.y() * direction.x());
      if (along + 2 * aside < nearest) {
        nearest = along + 2 * aside;
        best = static_cast<int>(i);
      }
    }
  }
  if (best < 0 && chosen_node_ >= 0 && direction.y() != 0) best = acrossFold(direction.y() > 0);
  if (best >= 0) Q_EMIT chosen(picture_->nodes[at(best)].subject);
}

/// From the end of a column the first node of the next, or from its beginning the last of the one before.
int GraphView::acrossFold(bool onwards) const {
  const GraphNode& from = picture_->nodes[at(chosen_node_)];
  int best = -1;
  for (std::size_t i = 0; i < picture_->nodes.size(); ++i) {
    const GraphNode& node = picture_->nodes[i];
    if (node.around || node.subject == Subject{} || node.column != from.column + (onwards ? 1 : -1)) continue;
    const bool better = best < 0 || (onwards ? node.rect.top() < picture_->nodes[at(best)].rect.top()
                                             : node.rect.bottom() > picture_->nodes[at(best)].rect.bottom());
    if (!from.around && better) best = static_cast<int>(i);
  }
  return best;
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  const bool pan = event->modifiers().testFlag(Qt::ShiftModifier);
  const QPointF middle = room().center();
  const auto go = [&](QPointF direction) { pan ? panBy(-80 * direction) : step(direction); };
  switch (event->key()) {
    case Qt::Key_Left: return go({-1, 0});
    case Qt::Key_Right: return go({1, 0});
    case Qt::Key_Up: return go({0, -1});
    case Qt::Key_Down: return go({0, 1});
    case Qt::Key_PageUp: return panBy({0, height() * 0.8});
    case Qt::Key_PageDown: return panBy({0, -height() * 0.8});
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoomBy(1.25, middle);
    case Qt::Key_Minus: return zoomBy(0.8, middle);
    case Qt::Key_F: return fit();
    case Qt::Key_1: return setActualSize();
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (picture_ && picture_->kind == GraphKind::fused && chosen_.step) Q_EMIT flipped(*chosen_.step);
      return;
    default: QWidget::keyPressEvent(event);
  }
}

}  // namespace stowage::inspector
