// SPDX-License-Identifier: Apache-2.0
// A pane as a picture file, for documents and lectures; the kind follows from the file's ending.
#pragma once

#include <QSizeF>
#include <QString>

#include "inspector/panes/pane.h"

namespace stowage::inspector {

/// ".svg", ".png" (at twice the resolution) or ".pdf". Returns what went wrong, in a sentence; empty when done. The
/// file appears whole or not at all.
QString export_pane(Pane& pane, const QString& path, QSizeF room = {1280, 800});

}  // namespace stowage::inspector
