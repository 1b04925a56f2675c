// SPDX-License-Identifier: Apache-2.0
// A pane as a picture file, for documents and lectures; the kind follows from the file's ending.
#pragma once

#include <QSizeF>
#include <QString>

#include "inspector/panes/pane.h"

namespace stowage::inspector {

/// What can be said of an export besides where it goes.
struct ExportOptions {
  QSizeF room = {1280, 800};
  double scale = 0;  ///< pixels of a PNG for one of the pane; 0: two, or one where the picture is large
};
/// ".svg", ".png" or ".pdf", or what else the pane writes. Draws on this thread, which is the window's; the work that
/// is returned writes, beside it. The file appears whole or not at all.
ExportWork prepare_export(Pane& pane, const QString& path, const ExportOptions& options = {});

/// Both, waiting for the end. What went wrong, in a sentence; empty when done.
QString export_pane(Pane& pane, const QString& path, const ExportOptions& options = {});
/// The same of a whole window as it is seen, as a PNG.
QString export_window(QWidget& window, const QString& path);

}  // namespace stowage::inspector
