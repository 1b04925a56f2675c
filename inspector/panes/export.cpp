// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

namespace stowage::inspector {

namespace {

void draw_page(Pane& pane, QPainter& painter, QSizeF size, const QColor& ground) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(), size), ground);
  pane.draw(painter, size);
}

QByteArray svg_of(Pane& pane, QSizeF size, const QColor& ground) {
  QBuffer buffer;
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(size.toSize());
  generator.setViewBox(QRectF(QPointF(), size));
  generator.setTitle(pane.windowTitle());
  generator.setResolution(96);
  QPainter painter(&generator);
  draw_page(pane, painter, size, ground);
  painter.end();
  return buffer.data();
}

QByteArray png_of(Pane& pane, QSizeF size, const QColor& ground) {
  // Twice the resolution, but never more than an image can hold.
  const double scale = std::max(size.width(), size.height()) * 2 > 16000 ? 1 : 2;
  QImage image((size * scale).toSize(), QImage::Format_RGB32);
  if (image.isNull()) return {};
  image.setDevicePixelRatio(scale);
  QPainter painter(&image);
  draw_page(pane, painter, size, ground);
  painter.end();
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return buffer.data();
}

QByteArray pdf_of(Pane& pane, QSizeF size, const QColor& ground) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  constexpr double points_per_pixel = 72.0 / 96.0;
  writer.setResolution(96);
  writer.setPageSize(QPageSize(size * points_per_pixel, QPageSize::Point));
  writer.setPageMargins(QMarginsF());
  QPainter painter(&writer);
  draw_page(pane, painter, size, ground);
  painter.end();
  return buffer.data();
}

}  // namespace

QString export_pane(Pane& pane, const QString& path, QSizeF room) {
  const QString ending = QFileInfo(path).suffix().toLower();
  pane.flush();
  const QSizeF size = pane.exportSize(room).expandedTo(QSizeF(16, 16));
  const QColor ground = pane.palette().color(QPalette::Base);
  QByteArray bytes;
  if (ending == QStringLiteral("svg")) {
    bytes = svg_of(pane, size, ground);
  } else if (ending == QStringLiteral("png")) {
    bytes = png_of(pane, size, ground);
  } else if (ending == QStringLiteral("pdf")) {
    bytes = pdf_of(pane, size, ground);
  } else {
    return Pane::tr("%1: pictures are written as .svg, .png or .pdf").arg(path);
  }
  if (bytes.isEmpty()) return Pane::tr("%1: the picture is too large").arg(path);
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
    return Pane::tr("%1 cannot be written: %2").arg(path, file.errorString());
  }
  return {};
}

}  // namespace stowage::inspector
