// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>

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

QByteArray png_of(const PagePainter& draw, QSizeF size, const QColor& ground) {
  // Twice the resolution, but never more than an image can hold.
  const double scale = std::max(size.width(), size.height()) * 2 > 16000 ? 1 : 2;
  QImage image((size * scale).toSize(), QImage::Format_RGB32);
  if (image.isNull()) return {};
  image.setDevicePixelRatio(scale);
  QPainter painter(&image);
  draw_page(draw, painter, size, ground);
  painter.end();
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return buffer.data();
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

QByteArray page_bytes(const QString& ending, const PagePainter& draw, QSizeF size, const QColor& ground,
                      const QString& title) {
  if (ending == QStringLiteral("svg")) return svg_of(draw, size, ground, title);
  if (ending == QStringLiteral("png")) return png_of(draw, size, ground);
  return pdf_of(draw, size, ground);
}

ExportWork prepare_export(Pane& pane, const QString& path, QSizeF room) {
  const QString ending = QFileInfo(path).suffix().toLower();
  pane.settle();
  if (auto special = pane.exportSpecial(path, room)) return *std::move(special);
  const auto refuse = [](const QString& sentence) -> ExportWork { return [sentence] { return sentence; }; };
  if (ending != QStringLiteral("svg") && ending != QStringLiteral("png") && ending != QStringLiteral("pdf")) {
    const QString also = pane.specialFormats();
    return refuse(Pane::tr("%1: pictures are written as .svg, .png or .pdf%2")
                      .arg(path, also.isEmpty() ? also : QStringLiteral("; ") + also));
  }
  const QSizeF size = pane.exportSize(room).expandedTo(QSizeF(16, 16));
  const QColor ground = pane.palette().color(QPalette::Base);
  const QByteArray bytes = page_bytes(
      ending, [&](QPainter& painter) { pane.draw(painter, size); }, size, ground, pane.windowTitle());
  if (bytes.isEmpty()) return refuse(Pane::tr("%1: the picture is too large").arg(path));
  return [path, bytes] { return write_file(path, bytes); };
}

QString export_pane(Pane& pane, const QString& path, QSizeF room) { return beside(prepare_export(pane, path, room)); }

}  // namespace stowage::inspector
