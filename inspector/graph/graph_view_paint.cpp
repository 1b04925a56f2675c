// SPDX-License-Identifier: Apache-2.0
// What a graph view paints at which scale, and the minimap.
#include "inspector/graph/graph_view.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/index.h"
#include "inspector/draw/hatching.h"

namespace stowage::inspector {

namespace {

/// Below these scales: no labels on edges, no curves, no outlines.
constexpr double label_scale = 0.55;
constexpr double curve_scale = 0.25;
constexpr double map_margin = 8;

}  // namespace

NodeColour GraphView::colourOf(const GraphNode& node) const {
  if (node.step && colours_.contains(*node.step)) {
    NodeColour colour = colours_[*node.step];
    if (node.around) return {look_.theme().base, Qt::SolidLine};  // the box around it has the colour
    return colour;
  }
  return {look_.theme().raised, Qt::SolidLine};
}

void GraphView::paintEdges(QPainter& painter, const std::vector<int>& edges, double scale) {
  const Theme& theme = look_.theme();
  painter.setBrush(Qt::NoBrush);
  const int chosen = chosen_node_;
  if (scale < curve_scale) {
    // Straight pieces of one pixel; those shorter than that are under a node anyway.
    std::vector<QLineF> lines;
    lines.reserve(edges.size() * 2);
    for (const int e : edges) {
      const GraphEdge& edge = picture_->edges[at(e)];
      for (std::size_t p = 0; p + 3 < edge.path.size(); p += 3) {
        const QLineF line(edge.path[p], edge.path[p + 3]);
        if ((std::abs(line.dx()) + std::abs(line.dy())) * scale >= 1.5) lines.push_back(line);
      }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    QPen pen(theme.muted, 1);
    pen.setCosmetic(true);
    painter.setPen(pen);
    painter.drawLines(lines.data(), static_cast<int>(lines.size()));
    painter.setRenderHint(QPainter::Antialiasing, true);
    return;
  }
  for (const int e : edges) {
    const GraphEdge& edge = picture_->edges[at(e)];
    if (edge.path.empty()) continue;
    QPainterPath path(edge.path.front());
    for (std::size_t p = 1; p + 2 < edge.path.size(); p += 3)
      path.cubicTo(edge.path[p], edge.path[p + 1], edge.path[p + 2]);
    const bool lit = chosen >= 0 && (edge.from == chosen || edge.to == chosen);
    const QColor color = lit ? theme.accent : theme.muted;
    painter.setPen(QPen(color, lit ? edge.width + 1 : edge.width, Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
    const QPointF tip = edge.path.back();
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (picture_->nodes[at(edge.to)].rect.width() > 0) {
      const double half = 3 + edge.width / 2;
      painter.drawPolygon(QPolygonF({tip, tip + QPointF(-half, -2 * half), tip + QPointF(half, -2 * half)}));
    }
    painter.setBrush(Qt::NoBrush);
  }
  if (scale < label_scale) return;
  painter.setFont(look_.smallFont());
  for (const int e : edges) {
    const GraphEdge& edge = picture_->edges[at(e)];
    if (!edge.labelled) continue;
    // Inside a box the ground is the box's colour.
    const GraphNode& from = picture_->nodes[at(edge.from)];
    const GraphNode& to = picture_->nodes[at(edge.to)];
    const bool inside = to.around && (from.around == to.around || edge.from == to.around);
    const QColor ground = inside ? colourOf(picture_->nodes[at(*to.around)]).fill : theme.base;
    const bool lit = chosen >= 0 && (edge.from == chosen || edge.to == chosen);
    QColor soft = ground;
    soft.setAlphaF(0.85F);
    painter.fillRect(edge.label, soft);
    const QColor ink = inside ? theme.on(ground) : lit ? theme.accent : theme.muted;
    painter.setPen(ink);
    const double half = edge.label.height() / 2;
    painter.drawText(QRectF(edge.label.left(), edge.label.top(), edge.label.width(), half), Qt::AlignCenter, edge.name);
    painter.drawText(QRectF(edge.label.left(), edge.label.top() + half, edge.label.width(), half), Qt::AlignCenter,
                     edge.bytes);
  }
}

void GraphView::paintNode(QPainter& painter, int index, double scale) {
  const GraphNode& node = picture_->nodes[at(index)];
  const Theme& theme = look_.theme();
  const NodeColour colour = colourOf(node);
  const QRectF& box = node.rect;
  const bool found = !is_match_.empty() && is_match_[at(index)];
  const bool lit = node.subject != Subject{} && holds(node.subject, chosen_);
  // In the computation graph an operator of the chosen group, in the fused graph the group of the chosen operator.
  const bool related = !lit && chosen_.step && node.step == chosen_.step && !node.around;
  const bool pointed = hovered_ != Subject{} && node.subject != Subject{} &&
                       (holds(node.subject, hovered_) || holds(hovered_, node.subject));
  if (scale < curve_scale && box.height() * scale < 14) {
    // However far away, there is something to see: a few pixels, in a colour that stands off the ground.
    constexpr double least_width = 6;
    constexpr double least_height = 2;
    const QSizeF size(std::max(box.width(), least_width / scale), std::max(box.height(), least_height / scale));
    QRectF drawn(QPointF(), size);
    drawn.moveCenter(box.center());
    painter.fillRect(drawn, found ? theme.warning : theme.dark ? colour.fill.lighter(130) : colour.fill.darker(125));
  } else {
    QPen pen(theme.dark ? colour.fill.lighter(170) : colour.fill.darker(170), 1, colour.pen);
    if (found) pen = QPen(theme.warning, index == current_match_ ? 5 : 3);
    painter.setPen(pen);
    painter.setBrush(pointed ? (theme.dark ? colour.fill.lighter(125) : colour.fill.darker(108)) : colour.fill);
    const double radius = node.kind == GraphNode::Kind::end ? box.height() / 2 : 4;
    painter.drawRoundedRect(box, radius, radius);
    if (colour.pen != Qt::SolidLine && !found && scale >= text_scale) {
      // Templates of one colour are told apart by hatching too, not by the border alone.
      QColor hatch = theme.on(colour.fill);
      hatch.setAlphaF(0.16F);
      painter.setPen(QPen(hatch, 1));
      const auto pattern = colour.pen == Qt::DashLine ? Qt::BDiagPattern : Qt::DiagCrossPattern;
      for (const QLineF& stroke : hatching(box.adjusted(1, 1, -1, -1), pattern)) painter.drawLine(stroke);
    }
  }
  if (lit || related) {
    QPen pen(theme.dark ? QColor(Qt::white) : theme.text, (lit ? 3 : 2) / std::min(1.0, scale));
    if (related) pen.setStyle(Qt::DashLine);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box, 4, 4);
  }
}

void GraphView::paintText(QPainter& painter, int index, double scale) {
  const GraphNode& node = picture_->nodes[at(index)];
  const Theme& theme = look_.theme();
  const NodeColour colour = colourOf(node);
  const QRectF& box = node.rect;
  painter.setPen(theme.on(colour.fill));
  if (scale >= text_scale) {
    QFont title = look_.textFont();
    title.setBold(true);
    const QFont small = look_.smallFont();
    double y = box.top() + 6;
    for (qsizetype i = 0; i < node.lines.size(); ++i) {
      const QFont& font = i == 0 ? title : small;
      const double height = std::ceil(QFontMetricsF(font).height());
      painter.setFont(font);
      if (node.open) {  // edges to the operators inside pass behind the heading
        const double half = QFontMetricsF(font).horizontalAdvance(node.lines[i]) / 2 + 3;
        painter.fillRect(QRectF(box.center().x() - half, y, 2 * half, height), colour.fill);
      }
      painter.drawText(QRectF(box.left() + 2, y, box.width() - 4, height), Qt::AlignCenter, node.lines[i]);
      y += height;
    }
    return;
  }
  // Smaller: only the title, as large as can be read, where it has room.
  const double room = box.width() * scale - 6;
  if (node.lines.isEmpty() || room < 30) return;
  const QFont font = look_.smallFont();
  const double height = look_.smallFont().pointSizeF() * 1.7;
  const double high = (node.open ? 34.0 : box.height()) * scale;
  if (high < height) return;
  painter.save();
  painter.scale(1 / scale, 1 / scale);
  painter.setFont(font);
  const QString text = QFontMetricsF(font).elidedText(node.lines.front(), Qt::ElideRight, room);
  painter.drawText(QRectF(box.left() * scale, box.top() * scale, box.width() * scale, high), Qt::AlignCenter, text);
  painter.restore();
}

void GraphView::paintGraph(QPainter& painter, const QRectF& sight, double scale) {
  std::vector<int> nodes;
  std::vector<int> edges;
  collect(sight, nodes, edges);
  painter.setRenderHint(QPainter::Antialiasing);
  // Boxes, then edges over them, then what stands inside and closed groups.
  for (const int node : nodes) {
    if (picture_->nodes[at(node)].open) paintNode(painter, node, scale);
  }
  paintEdges(painter, edges, scale);
  for (const int node : nodes) {
    if (picture_->nodes[at(node)].open) paintText(painter, node, scale);
  }
  const double cell = 1 / scale;
  double last_y = std::numeric_limits<double>::lowest();
  double last_x = last_y;
  for (const int node : nodes) {
    const GraphNode& shown = picture_->nodes[at(node)];
    if (shown.open) continue;
    // Where many fall on one pixel, one is enough.
    if (shown.rect.height() * scale < 1.5) {
      if (std::abs(shown.rect.top() - last_y) < cell && std::abs(shown.rect.left() - last_x) < cell) continue;
      last_y = shown.rect.top();
      last_x = shown.rect.left();
    }
    paintNode(painter, node, scale);
    paintText(painter, node, scale);
  }
}

void GraphView::paintAll(QPainter& painter) {
  if (!picture_) return;
  painter.save();
  painter.translate(-picture_->bounds.topLeft());
  paintGraph(painter, picture_->bounds, 1);
  painter.restore();
}

void GraphView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), look_.theme().base);
  if (!picture_) return;
  const QRectF seen = room();
  painter.save();
  painter.setClipRect(seen);
  painter.translate(origin_);
  painter.scale(scale_, scale_);
  paintGraph(painter, QRectF(toPicture(seen.topLeft()), toPicture(seen.bottomRight())), scale_);
  painter.restore();
  paintMinimap(painter);
}

QRectF GraphView::minimapRect() const {
  if (!picture_ || picture_->bounds.isEmpty()) return {};
  // Only where something must be out of sight, and there is room for it.
  const QSizeF shown = picture_->bounds.size() * scale_;
  if ((shown.width() <= width() + 1 && shown.height() <= height() + 1) || width() < 240) return {};
  QSizeF size = picture_->bounds.size();
  size.scale(std::min(150.0, width() / 4.0), height() * 0.6, Qt::KeepAspectRatio);
  size = size.expandedTo({14, 14});
  return QRectF(QPointF(width() - size.width() - map_margin, height() - size.height() - map_margin), size);
}

QRectF GraphView::room() const {
  const QRectF all = rect();
  const QRectF map = minimapRect();
  if (map.isEmpty()) return all;
  // A strip beside the map or above it, whichever takes less.
  const double beside = all.right() - map.left() + map_margin;
  const double below = all.bottom() - map.top() + map_margin;
  return beside * all.height() <= below * all.width() ? all.adjusted(0, 0, -beside, 0) : all.adjusted(0, 0, 0, -below);
}

void GraphView::paintMinimap(QPainter& painter) {
  const QRectF frame = minimapRect();
  if (frame.isEmpty()) return;
  const Theme& theme = look_.theme();
  const QSizeF factor(frame.width() / picture_->bounds.width(), frame.height() / picture_->bounds.height());
  if (minimap_.isNull() || minimap_.deviceIndependentSize().toSize() != frame.size().toSize()) {
    const double ratio = devicePixelRatioF();
    minimap_ = QPixmap((frame.size() * ratio).toSize());
    minimap_.setDevicePixelRatio(ratio);
    minimap_.fill(theme.raised);
    QPainter inner(&minimap_);
    for (const GraphNode& node : picture_->nodes) {
      if (node.around) continue;
      const QRectF box = node.rect.translated(-picture_->bounds.topLeft());
      inner.fillRect(QRectF(box.left() * factor.width(), box.top() * factor.height(),
                            std::max(1.0, box.width() * factor.width()), std::max(1.0, box.height() * factor.height())),
                     colourOf(node).fill == theme.raised ? theme.line : colourOf(node).fill);  // the map's own ground
    }
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  // The strip that is the map's, so that nobody looks for the picture there.
  const QRectF seen = room();
  const bool beside = seen.width() < width();
  painter.fillRect(beside ? QRectF(seen.right(), 0, width() - seen.right(), height())
                          : QRectF(0, seen.bottom(), width(), height() - seen.bottom()),
                   theme.window);
  painter.setPen(theme.line);
  painter.drawLine(beside ? seen.topRight() : seen.bottomLeft(), seen.bottomRight());
  painter.drawPixmap(frame.topLeft(), minimap_);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(theme.line);
  painter.drawRect(frame);
  const auto subject = [&](QPointF point) {
    const QPointF local = point - picture_->bounds.topLeft();
    return frame.topLeft() + QPointF(local.x() * factor.width(), local.y() * factor.height());
  };
  for (const int node : matches_) {
    painter.fillRect(QRectF(subject(picture_->nodes[at(node)].rect.center()) - QPointF(2, 1), QSizeF(4, 3)),
                     theme.warning);
  }
  const QRectF sight(subject(toPicture(seen.topLeft())), subject(toPicture(seen.bottomRight())));
  painter.setPen(QPen(theme.accent, 2));
  painter.drawRect(sight.intersected(frame));
}

}  // namespace stowage::inspector
