// SPDX-License-Identifier: Apache-2.0
// A pane as a picture file, for documents and lectures; the kind follows from the file's ending.
#pragma once

#include <QSizeF>
#include <QString>
#include <functional>

#include "inspector/panes/pane.h"

namespace stowage::inspector {

using PagePainter = std::function<void(QPainter&)>;
/// What can be said of an export besides where it goes.
struct ExportOptions {
  QSizeF room = {1280, 800};
  double scale = 0;  ///< pixels of a PNG for one of the pane; 0: two, or one where the picture is large
};
/// The scale at which an image still holds a picture of that size.
double largest_scale(QSizeF size);

/// A picture of that size as the contents of a file: ending "svg", "png" or "pdf". Empty where no image holds it.
QByteArray page_bytes(const QString& ending, const PagePainter& draw, QSizeF size, const QColor& ground,
                      const QString& title, double scale = 0);
/// ".svg", ".png" or ".pdf", or what else the pane writes. Draws on this thread, which is the window's; the work that
/// is returned writes, beside it. The file appears whole or not at all.
ExportWork prepare_export(Pane& pane, const QString& path, const ExportOptions& options = {});

/// Both, waiting for the end. What went wrong, in a sentence; empty when done.
QString export_pane(Pane& pane, const QString& path, const ExportOptions& options = {});
/// The same of a whole window as it is seen, as a PNG.
QString export_window(QWidget& window, const QString& path);

}  // namespace stowage::inspector
