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
/// ".svg", ".png" (at twice the resolution) or ".pdf", or what else the pane writes. Draws on this thread, which is the
/// window's; the work that is returned writes, beside it. The file appears whole or not at all.
ExportWork prepare_export(Pane& pane, const QString& path, QSizeF room = {1280, 800});

/// Both, waiting for the end. What went wrong, in a sentence; empty when done.
QString export_pane(Pane& pane, const QString& path, QSizeF room = {1280, 800});

}  // namespace stowage::inspector
