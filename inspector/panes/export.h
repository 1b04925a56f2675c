// SPDX-License-Identifier: Apache-2.0
// A pane as a picture file, for documents and lectures; the kind follows from the file's ending.
#pragma once

#include <QSizeF>
#include <QString>
#include <functional>

#include "inspector/panes/pane.h"

namespace stowage::inspector {

using PagePainter = std::function<void(QPainter&)>;
/// A picture of that size as the contents of a file: ending "svg", "png" or "pdf". Empty where it is too large.
QByteArray page_bytes(const QString& ending, const PagePainter& draw, QSizeF size, const QColor& ground,
                      const QString& title);
/// Whole or not at all. Returns what went wrong, in a sentence; empty when done.
QString write_export(const QString& path, const QByteArray& bytes);

/// ".svg", ".png" (at twice the resolution) or ".pdf", or what else the pane writes. Returns what went wrong, in a
/// sentence; empty when done. The file appears whole or not at all.
QString export_pane(Pane& pane, const QString& path, QSizeF room = {1280, 800});

}  // namespace stowage::inspector
