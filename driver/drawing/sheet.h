// SPDX-License-Identifier: Apache-2.0
// What a picture is drawn on: its room, the fonts that it will be shown in, the units of its numbers; and the parts
// that pictures have in common.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "driver/drawing/scene.h"
#include "driver/text/units.h"

namespace stowage::drawing {

/// Fonts as they will be shown; a scene is laid out by these.
struct Fonts {
  std::function<double(Font font, const std::string& text)> width;
  std::array<double, 3> heights = {};  ///< of a line
  std::array<double, 3> ascents = {};
  [[nodiscard]] double height(Font font) const { return heights[static_cast<std::size_t>(font)]; }
  [[nodiscard]] double ascent(Font font) const { return ascents[static_cast<std::size_t>(font)]; }
};

struct Sheet {
  double width = 0;   ///< a picture takes it all
  double height = 0;  ///< a picture may be higher; 0: as high as it needs
  Fonts fonts;
  Units units;
  bool titled = true;  ///< without a title where a heading stands around it

  [[nodiscard]] double text_width(const std::string& text, Font font = Font::small) const {
    return fonts.width(font, text);
  }
  [[nodiscard]] std::string size(std::int64_t bytes) const { return shown_size(bytes, units); }
};

/// Around pictures, left and right.
constexpr double margin = 14;

/// The title, if the sheet has one, and below it a line of numbers, if there are any. Returns the height used.
double add_title(Scene& scene, const Sheet& sheet, double y, const std::string& numbers);

/// A sentence in as many small lines as it takes, from `left` to the right margin; returns the height used.
double add_note(Scene& scene, const Sheet& sheet, double left, double y, const std::string& note);

/// One entry of a legend.
struct LegendEntry {
  std::string text;
  Ink ink = Ink::none;
  Hatch pattern = Hatch::none;
};
/// Draws entries side by side across the sheet from y, in as many rows as it takes; returns the height used.
double add_legend(Scene& scene, const Sheet& sheet, double y, const std::vector<LegendEntry>& entries);

/// Where the entries of a legend stand: side by side, a new row before what would pass `right`.
struct LegendLayout {
  struct Entry {
    Box colour;
    Box text;
  };
  std::vector<Entry> entries;
  double height = 0;  ///< of all rows
};
/// Of texts of such widths in a font of such ascent and height.
LegendLayout legend_layout(Point at, double right, double ascent, double font_height,
                           const std::vector<double>& widths);

/// Upper left corners of things of such widths side by side, a new row before what would pass `right`.
std::vector<Point> in_rows(Point at, double right, double row, const std::vector<double>& widths);

/// A sentence in lines that are no wider than that, broken at spaces, and a word that is wider where it must be. An
/// empty sentence is one empty line.
std::vector<std::string> wrapped(const std::string& text, double width,
                                 const std::function<double(const std::string& text)>& measure);

/// A text that is no wider than that, with an ellipsis for what is left out; texts that fit stay as they are.
std::string elided(const std::string& text, double width, Cut cut,
                   const std::function<double(const std::string& text)>& measure);

/// Places of round numbers (1, 2 or 5 times a power of ten; of two for bytes) that divide [0, top] in at most `most`.
std::vector<double> ticks(double top, int most, bool binary);

/// Diagonals through a box, cut off at its edges.
std::vector<std::pair<Point, Point>> hatching(const Box& box, Hatch pattern);

}  // namespace stowage::drawing
