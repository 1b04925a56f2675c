// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/export.h"

#include <QFileInfo>
#include <cmath>

#include "inspector/draw/page_image.h"
#include "inspector/state/background.h"
#include "inspector/state/files.h"

namespace stowage::inspector {

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
