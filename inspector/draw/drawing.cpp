// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/drawing.h"

#include <QFontMetricsF>
#include <QLineF>
#include <algorithm>
#include <cmath>

#include "inspector/draw/hatching.h"

namespace stowage::inspector {

QRectF Mark::bounds() const { return kind == Kind::line || kind == Kind::polygon ? points.boundingRect() : rect; }

std::vector<QLineF> hatching(const QRectF& rect, Qt::BrushStyle pattern) {
  constexpr double distance = 7;
  std::vector<QLineF> strokes;
  const auto diagonals = [&](bool rising) {
    for (double at = distance / 2; at < rect.width() + rect.height(); at += distance) {
      // x + y = at, seen from the upper left corner; rising ones lean to the right, falling ones are mirrored.
      const double from = std::max(0.0, at - rect.height());
      const double to = std::min(at, rect.width());
      const auto point = [&](double x) {
        return QPointF(rising ? rect.left() + x : rect.right() - x, rect.top() + (at - x));
      };
      strokes.emplace_back(point(from), point(to));
    }
  };
  if (pattern == Qt::BDiagPattern || pattern == Qt::DiagCrossPattern) diagonals(true);
  if (pattern == Qt::FDiagPattern || pattern == Qt::DiagCrossPattern) diagonals(false);
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
    if ((mark->place || !mark->tip.isEmpty()) && mark->bounds().adjusted(-1, -1, 1, 1).contains(point)) {
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

void paint(QPainter& painter, const Drawing& drawing) {
  painter.setRenderHint(QPainter::Antialiasing);
  for (const Mark& mark : drawing.marks) paint(painter, mark);
}

double add_legend(Drawing& drawing, QPointF at, double right, const std::vector<LegendEntry>& entries,
                  const QColor& text, const QColor& outline, const QFont& font) {
  const QFontMetricsF metrics(font);
  const double row = metrics.height() + 4;
  const double box = metrics.ascent();
  double x = at.x();
  double y = at.y();
  for (const LegendEntry& entry : entries) {
    const double width = metrics.horizontalAdvance(entry.text) + 1;
    if (x > at.x() && x + box + 5 + width > right) {
      x = at.x();
      y += row;
    }
    drawing.rect({x, y + (row - box) / 2, box, box}, entry.color, outline).pattern = entry.pattern;
    drawing.text({x + box + 5, y, width, row}, entry.text, text, font);
    x += box + 5 + width + 14;
  }
  return entries.empty() ? 0 : y + row - at.y();
}

std::vector<double> ticks(double top, int most, bool binary) {
  std::vector<double> places;
  if (!(top > 0) || most < 1) return places;
  double step = 0;
  if (binary) {
    step = std::exp2(std::ceil(std::log2(top / most)));
  } else {
    const double power = std::pow(10, std::floor(std::log10(top / most)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      step = factor * power;
      if (top / step <= most) break;
    }
  }
  for (int i = 0; i * step <= top * (1 + 1e-9); ++i) places.push_back(i * step);
  return places;
}

}  // namespace stowage::inspector
