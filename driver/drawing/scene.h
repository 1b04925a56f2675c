// SPDX-License-Identifier: Apache-2.0
// A picture as a value: shapes and texts with what they stand for, in pixels, y downwards. It names no colour and no
// font, only what they are for; the report's page and the inspector's themes each say what these look like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"

namespace stowage::drawing {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] Point middle() const { return {x + width / 2, y + height / 2}; }
  [[nodiscard]] bool overlaps(const Box& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
};

/// What a colour is for.
enum class Ink : std::uint8_t {
  none,
  text,
  muted,    ///< of a text that explains
  line,     ///< of rules and outlines
  base,     ///< what the picture lies on
  raised,   ///< what lies on that: a bracket, a reserve
  error,    ///< a limit
  band,     ///< a translucent mark over a place
  launch,   ///< time goes to a launch …
  get,      ///< … or to fetching; a buffer that is being filled
  compute,  ///< computing; a buffer in use
  put,      ///< writing back; a buffer being drained
  fill,     ///< filling a buffer with a value
  issue,    ///< calls that start transfers
  idle,     ///< a buffer that waits
  input,    ///< of the network
  between,  ///< a tensor between fused operators
  output,   ///< of the network
  chosen    ///< what the chosen fused operator reads or writes
};
constexpr int ink_count = static_cast<int>(Ink::chosen) + 1;
/// "get", as the page's style calls it.
std::string_view name_of(Ink ink);

/// Hatching over a fill, so that colour is never alone.
enum class Hatch : std::uint8_t { none, rising, falling, crossed };
enum class Dash : std::uint8_t { none, dots, dashes };
enum class Font : std::uint8_t { small, text, title };
enum class Align : std::uint8_t { left, middle, right };
/// Where the ellipsis of a text stands that does not fit its box.
enum class Cut : std::uint8_t { end, middle };

/// What a shape stands for in a Program.
struct Subject {
  std::optional<StepId> step = std::nullopt;            ///< fused operator
  std::optional<OpId> op = std::nullopt;                ///< operator of the fused graph
  std::optional<BufferId> buffer = std::nullopt;        ///< of the step's nest
  std::optional<StatementId> statement = std::nullopt;  ///< in the step's nest
  friend bool operator==(const Subject&, const Subject&) = default;
};

struct Shape {
  enum class Kind : std::uint8_t { box, ellipse, line, text };
  Kind kind = Kind::box;
  Box box;                    ///< of all but lines
  std::vector<Point> points;  ///< of lines
  Ink fill = Ink::none;       ///< of texts what they stand on, where that is a filled shape
  Ink stroke = Ink::none;     ///< of texts their colour, where they stand on nothing filled
  Hatch pattern = Hatch::none;
  Dash dash = Dash::none;
  double width = 1;   ///< of the outline
  double radius = 0;  ///< of a box's corners
  std::string text;
  Font font = Font::text;
  Align align = Align::left;
  Cut cut = Cut::end;
  bool upward = false;  ///< text turned by a quarter to the left
  std::optional<Subject> subject;
  std::optional<int> item;  ///< of what the picture lists itself, the values of a curve, say: which
  std::string tip;          ///< told to whoever points at it; may have several lines
};

/// A picture. What it is called is for who cannot see it, and for a window without headings around.
struct Scene {
  std::string title;
  double width = 0;
  double height = 0;
  std::vector<Shape> shapes;  ///< later ones cover earlier ones

  Shape& box(const Box& box, Ink fill, Ink stroke = Ink::none);
  Shape& ellipse(const Box& box, Ink fill, Ink stroke = Ink::none);
  Shape& line(Point from, Point to, Ink stroke, double thickness = 1);
  Shape& polyline(std::vector<Point> points, Ink stroke, double thickness = 1);
  Shape& text(const Box& box, std::string text, Ink ink, Font font, Align align = Align::left);
};

/// A line for each shape, for tests and for looking at.
std::string to_text(const Scene& scene);

}  // namespace stowage::drawing
