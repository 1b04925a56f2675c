// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/page_image.h"

#include <QBuffer>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>

namespace stowage::inspector {

namespace {

void draw_page(const PagePainter& draw, QPainter& painter, QSizeF size, const QColor& ground) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(), size), ground);
  draw(painter);
}

QByteArray svg_of(const PagePainter& draw, QSizeF size, const QColor& ground, const QString& title) {
  QBuffer buffer;
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(size.toSize());
  generator.setViewBox(QRectF(QPointF(), size));
  generator.setTitle(title);
  generator.setResolution(96);
  QPainter painter(&generator);
  draw_page(draw, painter, size, ground);
  painter.end();
  return buffer.data();
}

QByteArray png_of(const PagePainter& draw, QSizeF size, const QColor& ground, double scale) {
  if (scale > largest_scale(size)) return {};
  QImage image((size * scale).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
  if (image.isNull()) return {};
  image.setDevicePixelRatio(scale);
  QPainter painter(&image);
  draw_page(draw, painter, size, ground);
  painter.end();
  return png_bytes(image);
}

QByteArray pdf_of(const PagePainter& draw, QSizeF size, const QColor& ground) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  constexpr double points_per_pixel = 72.0 / 96.0;
  writer.setResolution(96);
  writer.setPageSize(QPageSize(size * points_per_pixel, QPageSize::Point));
  writer.setPageMargins(QMarginsF());
  QPainter painter(&writer);
  draw_page(draw, painter, size, ground);
  painter.end();
  return buffer.data();
}

}  // namespace

double default_scale(QSizeF size) { return std::max(size.width(), size.height()) * 2 > 16000 ? 1 : 2; }

double largest_scale(QSizeF size) {
  constexpr double max_side = 32767;                // that Qt's painters reach
  constexpr double max_pixels = 128 * 1024 * 1024;  // half a gigabyte
  const double area = size.width() * size.height();
  return std::min({max_side / size.width(), max_side / size.height(), std::sqrt(max_pixels / area)});
}

QByteArray png_bytes(const QImage& image) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return buffer.data();
}

QByteArray page_bytes(const QString& ending, const PagePainter& draw, QSizeF size, const QColor& ground,
                      const QString& title, double scale) {
  if (ending == QStringLiteral("svg")) return svg_of(draw, size, ground, title);
  if (ending == QStringLiteral("png")) return png_of(draw, size, ground, scale > 0 ? scale : default_scale(size));
  return pdf_of(draw, size, ground);
}

}  // namespace stowage::inspector
