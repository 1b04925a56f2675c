// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/wrapped_text.h"

#include <QFontMetricsF>

#include "driver/drawing/sheet.h"

namespace stowage::inspector {

QStringList wrapped(const QString& text, const QFont& font, double width) {
  const QFontMetricsF metrics(font);
  QStringList lines;
  for (const std::string& line : drawing::wrapped(text.toStdString(), width, [&](const std::string& part) {
         return metrics.horizontalAdvance(QString::fromStdString(part));
       })) {
    lines.push_back(QString::fromStdString(line));
  }
  return lines;
}

}  // namespace stowage::inspector
