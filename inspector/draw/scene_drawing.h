// SPDX-License-Identifier: Apache-2.0
// Pictures that the report has too (driver/drawing), as the window shows them.
#pragma once

#include <QString>
#include <array>
#include <string>
#include <unordered_map>

#include "driver/drawing/sheet.h"
#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"

namespace stowage::inspector {

/// Widths of texts that were measured before, for pictures that are made again and again, by one thread.
class TextWidths {
 public:
  /// Forgets those of other fonts.
  void use(const Look& look);
  template <class Measure>
  double width(drawing::Font font, const std::string& text, const Measure& measure) {
    auto& known = widths_[static_cast<std::size_t>(font)];
    const auto found = known.find(text);
    if (found != known.end()) return found->second;
    if (known.size() >= most_texts) known.clear();
    return known.emplace(text, measure()).first->second;
  }

 private:
  static constexpr std::size_t most_texts = 4096;
  std::array<QString, 3> fonts_;
  std::array<std::unordered_map<std::string, double>, 3> widths_;
};

/// The window's fonts and units, and a room. `widths`, where there are any, must outlive it.
drawing::Sheet sheet_of(const Look& look, QSizeF room, TextWidths* widths = nullptr);
QColor color_of(drawing::Ink ink, const Theme& theme);

/// The same shapes in the theme's colours; what they stand for is a subject of the plan.
Drawing drawn(const drawing::Scene& scene, const Look& look);

}  // namespace stowage::inspector
