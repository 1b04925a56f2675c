// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>

#include "inspector/state/background.h"
#include "inspector/state/files.h"

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

/// Twice the resolution, where that is not very large.
double default_scale(QSizeF size) { return std::max(size.width(), size.height()) * 2 > 16000 ? 1 : 2; }

QByteArray png_bytes(const QImage& image) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
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

double largest_scale(QSizeF size) {
  constexpr double max_side = 32767;                // that Qt's painters reach
  constexpr double max_pixels = 128 * 1024 * 1024;  // half a gigabyte
  const double area = size.width() * size.height();
  return std::min({max_side / size.width(), max_side / size.height(), std::sqrt(max_pixels / area)});
}

QByteArray page_bytes(const QString& ending, const PagePainter& draw, QSizeF size, const QColor& ground,
                      const QString& title, double scale) {
  if (ending == QStringLiteral("svg")) return svg_of(draw, size, ground, title);
  if (ending == QStringLiteral("png")) return png_of(draw, size, ground, scale > 0 ? scale : default_scale(size));
  return pdf_of(draw, size, ground);
}

ExportWork prepare_export(Pane& pane, const QString& path, const ExportOptions& options) {
  const QString ending = QFileInfo(path).suffix().toLower();
  pane.settle();
  if (auto special = pane.exportSpecial(path, options.room)) return *std::move(special);
  const auto refuse = [](const QString& sentence) -> ExportWork { return [sentence] { return sentence; }; };
  if (ending != QStringLiteral("svg") && ending != QStringLiteral("png") && ending != QStringLiteral("pdf")) {
    const QString also = pane.specialFormats();
    return refuse(Pane::tr("%1: pictures are written as .svg, .png or .pdf%2")
                      .arg(path, also.isEmpty() ? also : QStringLiteral("; ") + also));
  }
  const QSizeF size = pane.exportSize(options.room).expandedTo(QSizeF(16, 16));
  const QColor ground = pane.palette().color(QPalette::Base);
  const QByteArray bytes = page_bytes(
      ending, [&](QPainter& painter) { pane.draw(painter, size); }, size, ground, pane.windowTitle(), options.scale);
  if (bytes.isEmpty()) {
    const double scale = options.scale > 0 ? options.scale : default_scale(size);
    return refuse(
        Pane::tr("%1: a picture of %2 × %3 pixels is more than an image holds; the largest scale that works is "
                 "%4 (--scale %4). As .svg or .pdf it has no pixels")
            .arg(path)
            .arg(std::llround(size.width() * scale))
            .arg(std::llround(size.height() * scale))
            .arg(std::floor(largest_scale(size) * 100) / 100));
  }
  return [path, bytes] { return write_file(path, bytes); };
}

QString export_pane(Pane& pane, const QString& path, const ExportOptions& options) {
  return beside(prepare_export(pane, path, options));
}

QString export_window(QWidget& window, const QString& path) {
  if (QFileInfo(path).suffix().toLower() != QStringLiteral("png")) {
    return Pane::tr("%1: a window is written as .png").arg(path);
  }
  if (largest_scale(window.size()) < 1) {
    return Pane::tr("%1: a window of %2 × %3 pixels is more than an image holds")
        .arg(path)
        .arg(window.width())
        .arg(window.height());
  }
  const QByteArray bytes = png_bytes(window.grab().toImage());
  return beside([&] { return write_file(path, bytes); });
}

}  // namespace stowage::inspector
