// SPDX-License-Identifier: Apache-2.0
// What is painted as the contents of a picture file.
#pragma once

#include <QByteArray>
#include <QColor>
#include <QImage>
#include <QSizeF>
#include <QString>
#include <functional>

class QPainter;

namespace stowage::inspector {

using PagePainter = std::function<void(QPainter&)>;

/// Pixels for one of the picture: two, or one where the picture is large.
double default_scale(QSizeF size);
/// The scale at which an image still holds a picture of that size.
double largest_scale(QSizeF size);

QByteArray png_bytes(const QImage& image);
/// A picture of that size as the contents of a file: ending "svg", "png" or "pdf". Empty where no image holds it.
/// `scale`: of a PNG; 0 is the default one.
QByteArray page_bytes(const QString& ending, const PagePainter& draw, QSizeF size, const QColor& ground,
                      const QString& title, double scale = 0);

}  // namespace stowage::inspector
