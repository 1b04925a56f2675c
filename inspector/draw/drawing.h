// SPDX-License-Identifier: Apache-2.0
// A picture as a value: marks with what they stand for. The same drawing is shown in a pane, exported as SVG, PNG or
// PDF, and held to its content by tests.
#pragma once

#include <QColor>
#include <QFont>
#include <QPainter>
#include <QPolygonF>
#include <QRectF>
#include <QString>
#include <optional>
#include <vector>

#include "inspector/state/subject.h"

namespace stowage::inspector {

struct Mark {
  enum class Kind : std::uint8_t { rect, ellipse, line, polygon, text };
  Kind kind = Kind::rect;
  QRectF rect;                                ///< of all but lines and polygons
  QPolygonF points;                           ///< of lines and polygons
  QColor fill;                                ///< invalid: not filled
  Qt::BrushStyle pattern = Qt::SolidPattern;  ///< or BDiag, FDiag, DiagCross: hatching over the fill of a rectangle
  QColor stroke;                              ///< invalid: no outline; of texts the colour
  double width = 1;                           ///< of the outline
  Qt::PenStyle pen = Qt::SolidLine;
  double radius = 0;                         ///< of a rectangle's corners
  QString text;                              ///< of texts; cut with an ellipsis where it does not fit its rectangle
  Qt::TextElideMode elide = Qt::ElideRight;  ///< where the ellipsis stands
  int alignment = Qt::AlignLeft | Qt::AlignVCenter;
  bool upward = false;  ///< text turned by a quarter to the left
  QFont font;
  std::optional<Subject> subject;  ///< what it stands for: can be clicked and chosen
  std::optional<int> item;         ///< of what the drawing lists itself: the same
  QString tip;
  [[nodiscard]] QRectF bounds() const;
  /// All that painting it may touch.
  [[nodiscard]] QRectF painted() const;
};

class Drawing {
 public:
  QSizeF size;
  std::vector<Mark> marks;  ///< later ones cover earlier ones
  std::size_t passing = 0;  ///< so many of them, the last ones, are often replaced alone (DrawingView::setPassing)

  Mark& rect(const QRectF& rect, const QColor& fill, const QColor& stroke = {});
  Mark& ellipse(const QRectF& rect, const QColor& fill, const QColor& stroke = {});
  Mark& line(QPointF from, QPointF to, const QColor& stroke, double width = 1);
  Mark& polyline(const QPolygonF& points, const QColor& stroke, double width = 1);
  Mark& polygon(const QPolygonF& points, const QColor& fill, const QColor& stroke = {});
  Mark& text(const QRectF& rect, const QString& text, const QColor& color, const QFont& font,
             int alignment = Qt::AlignLeft | Qt::AlignVCenter);

  /// The topmost mark at a point that stands for something or has a tip.
  [[nodiscard]] const Mark* at(QPointF point) const;
};

/// Of a part that is not empty only what touches it.
void paint(QPainter& painter, const Drawing& drawing, const QRectF& part = {});
void paint(QPainter& painter, const Mark& mark);

/// One entry of a legend.
struct LegendEntry {
  QString text;
  QColor color;
  Qt::BrushStyle pattern = Qt::SolidPattern;
};
/// Draws entries side by side from `at`, breaking before `right`; returns the height used.
double add_legend(Drawing& drawing, QPointF at, double right, const std::vector<LegendEntry>& entries,
                  const QColor& text, const QColor& outline, const QFont& font);

}  // namespace stowage::inspector
