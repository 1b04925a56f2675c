// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/wrapped_text.h"

#include <QFontMetricsF>
#include <utility>

namespace stowage::inspector {

QStringList wrapped(const QString& text, const QFont& font, double width) {
  const QFontMetricsF metrics(font);
  QStringList lines;
  QString line;
  for (QString word : text.split(QLatin1Char(' '))) {
    // A name that is wider than the line is broken where it must be.
    while (metrics.horizontalAdvance(word) > width && word.size() > 1) {
      qsizetype fits = word.size() - 1;
      while (fits > 1 && metrics.horizontalAdvance(word.left(fits)) > width) --fits;
      if (!line.isEmpty()) lines.push_back(std::exchange(line, {}));
      lines.push_back(word.left(fits));
      word = word.mid(fits);
    }
    const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
    if (!line.isEmpty() && metrics.horizontalAdvance(longer) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
  }
  lines.push_back(line);
  return lines;
}

}  // namespace stowage::inspector
