// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/drawing.h"

#include <QFontMetricsF>
#include <QLineF>
#include <algorithm>

#include "driver/drawing/sheet.h"
#include "inspector/draw/hatching.h"

namespace stowage::inspector {

QRectF Mark::bounds() const { return kind == Kind::line || kind == Kind::polygon ? points.boundingRect() : rect; }

QRectF Mark::painted() const {
  // Outlines stand half beside their edge, letters where their box is too low for them.
  const double around = kind == Kind::text ? 2 * QFontMetricsF(font).height() : width / 2 + 2;
  return bounds().normalized().adjusted(-around, -around, around, around);
}

std::vector<QLineF> hatching(const QRectF& rect, Qt::BrushStyle pattern) {
  using drawing::Hatch;
  const Hatch wanted = pattern == Qt::BDiagPattern       ? Hatch::rising
                       : pattern == Qt::FDiagPattern     ? Hatch::falling
                       : pattern == Qt::DiagCrossPattern ? Hatch::crossed
                                                         : Hatch::none;
  std::vector<QLineF> strokes;
  for (const auto& [from, to] : drawing::hatching({rect.x(), rect.y(), rect.width(), rect.height()}, wanted)) {
    strokes.emplace_back(from.x, from.y, to.x, to.y);
  }
  return strokes;
}

Mark& Drawing::rect(const QRectF& rect, const QColor& fill, const QColor& stroke) {
  Mark mark;
  mark.rect = rect;
  mark.fill = fill;
  mark.stroke = stroke;
  return marks.emplace_back(std::move(mark));
}

Mark& Drawing::ellipse(const QRectF& rect, const QColor& fill, const QColor& stroke) {
  Mark& mark = this->rect(rect, fill, stroke);
  mark.kind = Mark::Kind::ellipse;
  return mark;
}

Mark& Drawing::line(QPointF from, QPointF to, const QColor& stroke, double width) {
  return polyline({from, to}, stroke, width);
}

Mark& Drawing::polyline(const QPolygonF& points, const QColor& stroke, double width) {
  Mark mark;
  mark.kind = Mark::Kind::line;
  mark.points = points;
  mark.stroke = stroke;
  mark.width = width;
  return marks.emplace_back(std::move(mark));
}

Mark& Drawing::polygon(const QPolygonF& points, const QColor& fill, const QColor& stroke) {
  Mark mark;
  mark.kind = Mark::Kind::polygon;
  mark.points = points;
  mark.fill = fill;
  mark.stroke = stroke;
  return marks.emplace_back(std::move(mark));
}

Mark& Drawing::text(const QRectF& rect, const QString& text, const QColor& color, const QFont& font, int alignment) {
  Mark mark;
  mark.kind = Mark::Kind::text;
  mark.rect = rect;
  mark.text = text;
  mark.stroke = color;
  mark.font = font;
  mark.alignment = alignment;
  return marks.emplace_back(std::move(mark));
}

const Mark* Drawing::at(QPointF point) const {
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    if ((mark->subject || !mark->tip.isEmpty()) && mark->bounds().adjusted(-1, -1, 1, 1).contains(point)) {
      return &*mark;
    }
  }
  return nullptr;
}

void paint(QPainter& painter, const Mark& mark) {
  if (mark.kind == Mark::Kind::text) {
    painter.setFont(mark.font);
    painter.setPen(mark.stroke);
    const double room = mark.upward ? mark.rect.height() : mark.rect.width();
    const QString fitting = QFontMetricsF(mark.font).elidedText(mark.text, mark.elide, room + 0.5);
    if (!mark.upward) {
      painter.drawText(mark.rect, mark.alignment, fitting);
      return;
    }
    painter.save();
    painter.translate(mark.rect.left(), mark.rect.bottom());
    painter.rotate(-90);
    painter.drawText(QRectF(0, 0, mark.rect.height(), mark.rect.width()), mark.alignment, fitting);
    painter.restore();
    return;
  }
  QPen pen(Qt::NoPen);
  if (mark.stroke.isValid()) pen = QPen(mark.stroke, mark.width, mark.pen, Qt::RoundCap, Qt::RoundJoin);
  painter.setPen(pen);
  if (mark.kind == Mark::Kind::line) {
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(mark.points);
    return;
  }
  painter.setBrush(mark.fill.isValid() ? QBrush(mark.fill) : QBrush(Qt::NoBrush));
  const auto draw = [&] {
    if (mark.kind == Mark::Kind::ellipse) {
      painter.drawEllipse(mark.rect);
    } else if (mark.kind == Mark::Kind::polygon) {
      painter.drawPolygon(mark.points);
    } else if (mark.radius > 0) {
      painter.drawRoundedRect(mark.rect, mark.radius, mark.radius);
    } else {
      painter.drawRect(mark.rect);
    }
  };
  draw();
  if (mark.pattern == Qt::SolidPattern || !mark.fill.isValid()) return;
  const bool light = mark.fill.lightnessF() > 0.5F;
  painter.setPen(QPen(light ? mark.fill.darker(150) : mark.fill.lighter(160), 1));
  for (const QLineF& stroke : hatching(mark.rect, mark.pattern)) painter.drawLine(stroke);
}

void paint(QPainter& painter, const Drawing& drawing, const QRectF& part) {
  painter.setRenderHint(QPainter::Antialiasing);
  for (const Mark& mark : drawing.marks) {
    if (part.isEmpty() || mark.painted().intersects(part)) paint(painter, mark);
  }
}

double add_legend(Drawing& drawing, QPointF at, double right, const std::vector<LegendEntry>& entries,
                  const QColor& text, const QColor& outline, const QFont& font) {
  const QFontMetricsF metrics(font);
  std::vector<double> widths;
  for (const LegendEntry& entry : entries) widths.push_back(metrics.horizontalAdvance(entry.text));
  const drawing::LegendLayout layout =
      drawing::legend_layout({at.x(), at.y()}, right, metrics.ascent(), metrics.height(), widths);
  const auto rect = [](const drawing::Box& box) { return QRectF(box.x, box.y, box.width, box.height); };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    drawing.rect(rect(layout.entries[i].colour), entries[i].color, outline).pattern = entries[i].pattern;
    drawing.text(rect(layout.entries[i].text), entries[i].text, text, font);
  }
  return layout.height;
}

}  // namespace stowage::inspector
