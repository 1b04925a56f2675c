// SPDX-License-Identifier: Apache-2.0
// Hatching as lines of our own, which every picture format keeps as lines; patterns of brushes are lost in SVG.
#pragma once

#include <qnamespace.h>
#include <QLineF>
#include <QRectF>
#include <vector>

namespace stowage::inspector {

/// Diagonals through a rectangle, cut off at its edges, for BDiag, FDiag and DiagCross; none for other patterns.
std::vector<QLineF> hatching(const QRectF& rect, Qt::BrushStyle pattern);

}  // namespace stowage::inspector
