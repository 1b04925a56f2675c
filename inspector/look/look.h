// SPDX-License-Identifier: Apache-2.0
// How everything looks: colours of the light and the dark theme, fonts, numbers as text. Panes ask Look and paint again
// when it changes; nobody else names a colour.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>
#include <QString>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "driver/drawing/buffer_states.h"
#include "driver/text/units.h"

namespace stowage::inspector {

/// States of an LDM buffer, and kinds of a DMA line. Each also has a pattern, so that colour is never alone.
using drawing::BufferState;

/// Colours after Okabe and Ito, which people with the common colour deficiencies tell apart.
struct Theme {
  bool dark = false;
  QColor window, base, raised, text, muted, line, accent, accent_text, hover, error, warning;
  QColor keyword, number, comment, string;  ///< of code

  /// Colour number i of a legend, to be filled with; repeats after 8.
  [[nodiscard]] QColor category(int i) const;
  /// Cost from 0 (nothing) to 1 (all of it).
  [[nodiscard]] QColor heat(double share) const;
  [[nodiscard]] QColor state(BufferState state) const;
  [[nodiscard]] Qt::BrushStyle pattern(BufferState state) const;
  /// Text on a filled shape.
  [[nodiscard]] QColor on(const QColor& fill) const;
  [[nodiscard]] QPalette palette() const;
  /// Light things of the application that QPalette does not reach.
  [[nodiscard]] QString style_sheet() const;
};
Theme make_theme(bool dark);

class Look : public QObject {
  Q_OBJECT
 public:
  explicit Look(QObject* parent = nullptr);
  [[nodiscard]] const Theme& theme() const { return theme_; }
  [[nodiscard]] Units units() const { return units_; }
  [[nodiscard]] QFont textFont() const;
  [[nodiscard]] QFont smallFont() const;
  [[nodiscard]] QFont titleFont() const;
  [[nodiscard]] QFont codeFont() const;
  /// Pixels that this number of characters takes side by side, on average.
  [[nodiscard]] int characters(double count) const;
  /// Pixels that this number of lines of text takes.
  [[nodiscard]] int lines(double count) const;

  /// Takes everything from another.
  void copy(const Look& other);
  void setDark(bool dark);
  void setUnits(Units units);
  /// Point size of the text, from 7 to 24.
  void setPointSize(double points);
  [[nodiscard]] double pointSize() const { return points_; }

 Q_SIGNALS:
  void changed();

 private:
  Theme theme_;
  Units units_;
  double points_ = 10;
};

/// Sets fonts, palette and style sheet of the application.
void apply_to_application(const Look& look);

inline QString qt(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

/// fmt for the window.
template <class... Values>
QString format(fmt::format_string<Values...> pattern, Values&&... values) {
  return QString::fromStdString(fmt::format(pattern, std::forward<Values>(values)...));
}

// Numbers as driver/text/units.h has them.

QString count_text(std::int64_t number);
QString size_text(std::int64_t bytes, Units units);
QString time_text(std::int64_t cycles, double clock_hz, Units units);
/// The same where nothing else says what it is: "1 234 cycles" or "3.2 µs".
QString full_time_text(std::int64_t cycles, double clock_hz, Units units);
QString seconds_text(std::int64_t cycles, double clock_hz);
/// "25.1 GB/s".
QString rate_text(double bytes_per_second);
QString percent_text(double share);

}  // namespace stowage::inspector
