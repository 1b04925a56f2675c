// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/sheet.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stowage::drawing {

namespace {

/// Where the characters of a UTF-8 text begin, and its end.
std::vector<std::size_t> character_starts(const std::string& text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

}  // namespace

double add_title(Scene& scene, const Sheet& sheet, double y, const std::string& numbers) {
  double used = 0;
  const double width = scene.width - 2 * margin;
  if (sheet.titled) {
    const double height = sheet.fonts.height(Font::title) + 4;
    scene.text({margin, y, width, height}, scene.title, Ink::text, Font::title);
    used += height + 2;
  }
  if (!numbers.empty()) {
    const double height = sheet.fonts.height(Font::text) + 2;
    scene.text({margin, y + used, width, height}, numbers, Ink::muted, Font::text);
    used += height + 4;
  }
  return used;
}

double add_note(Scene& scene, const Sheet& sheet, double left, double y, const std::string& note) {
  const double row = sheet.fonts.height(Font::small);
  const double width = scene.width - left - margin;
  double used = 0;
  for (const std::string& line :
       wrapped(note, width, [&](const std::string& text) { return sheet.text_width(text); })) {
    scene.text({left, y + used, width, row}, line, Ink::muted, Font::small);
    used += row;
  }
  return used;
}

std::vector<Point> in_rows(Point at, double right, double row, const std::vector<double>& widths) {
  std::vector<Point> places;
  Point next = at;
  for (const double width : widths) {
    if (next.x > at.x && next.x + width > right) next = {at.x, next.y + row};
    places.push_back(next);
    constexpr double gap = 14;
    next.x += width + gap;
  }
  return places;
}

LegendLayout legend_layout(Point at, double right, double ascent, double font_height,
                           const std::vector<double>& widths) {
  if (widths.empty()) return {};
  const double row = font_height + 4;
  constexpr double gap = 5;
  std::vector<double> whole;
  for (const double width : widths) whole.push_back(ascent + gap + width + 1);
  const std::vector<Point> corners = in_rows(at, right, row, whole);
  LegendLayout layout;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto& [x, y] = corners[i];
    layout.entries.push_back(
        {{x, y + (row - ascent) / 2, ascent, ascent}, {x + ascent + gap, y, whole[i] - ascent - gap, row}});
  }
  layout.height = corners.back().y + row - at.y;
  return layout;
}

double add_legend(Scene& scene, const Sheet& sheet, double y, const std::vector<LegendEntry>& entries) {
  std::vector<double> widths;
  for (const LegendEntry& entry : entries) widths.push_back(sheet.text_width(entry.text));
  const LegendLayout layout = legend_layout({margin, y}, scene.width - margin, sheet.fonts.ascent(Font::small),
                                            sheet.fonts.height(Font::small), widths);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    scene.box(layout.entries[i].colour, entries[i].ink, Ink::line).pattern = entries[i].pattern;
    scene.text(layout.entries[i].text, entries[i].text, Ink::text, Font::small);
  }
  return layout.height;
}

std::vector<std::string> wrapped(const std::string& text, double width,
                                 const std::function<double(const std::string& text)>& measure) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    // A name that is wider than the line is broken where it must be.
    while (measure(word) > width) {
      const std::vector<std::size_t> starts = character_starts(word);
      if (starts.size() <= 2) break;  // of a single character
      std::size_t fits = starts.size() - 2;
      while (fits > 1 && measure(word.substr(0, starts[fits])) > width) --fits;
      if (!line.empty()) lines.push_back(std::exchange(line, {}));
      lines.push_back(word.substr(0, starts[fits]));
      word.erase(0, starts[fits]);
    }
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && measure(longer) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
  }
  lines.push_back(line);
  return lines;
}

std::string elided(const std::string& text, double width, Cut cut,
                   const std::function<double(const std::string& text)>& measure) {
  if (measure(text) <= width) return text;
  const std::vector<std::size_t> starts = character_starts(text);
  const std::size_t count = starts.size() - 1;
  const auto with = [&](std::size_t kept) {
    const std::size_t behind = cut == Cut::middle ? kept / 2 : 0;
    return text.substr(0, starts[kept - behind]) + "…" + text.substr(starts[count - behind]);
  };
  // The most characters that fit beside the ellipsis, found by halving: each one more is wider.
  std::size_t least = 0;
  std::size_t most = count;
  while (least + 1 < most) {
    const std::size_t middle = least + (most - least) / 2;
    (measure(with(middle)) <= width ? least : most) = middle;
  }
  return with(least);
}

std::vector<double> ticks(double top, int most, bool binary) {
  std::vector<double> places;
  if (!(top > 0) || most < 1) return places;
  double step = 0;
  if (binary) {
    step = std::exp2(std::ceil(std::log2(top / most)));
  } else {
    const double power = std::pow(10, std::floor(std::log10(top / most)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      step = factor * power;
      if (top / step <= most) break;
    }
  }
  for (int i = 0; i * step <= top * (1 + 1e-9); ++i) places.push_back(i * step);
  return places;
}

std::vector<std::pair<Point, Point>> hatching(const Box& box, Hatch pattern) {
  constexpr double distance = 7;
  std::vector<std::pair<Point, Point>> strokes;
  const auto diagonals = [&](bool rising) {
    for (double at = distance / 2; at < box.width + box.height; at += distance) {
      // x + y = at, seen from the upper left corner; rising ones lean to the right, falling ones are mirrored.
      const double from = std::max(0.0, at - box.height);
      const double to = std::min(at, box.width);
      const auto point = [&](double x) { return Point{rising ? box.x + x : box.right() - x, box.y + (at - x)}; };
      strokes.emplace_back(point(from), point(to));
    }
  };
  if (pattern == Hatch::rising || pattern == Hatch::crossed) diagonals(true);
  if (pattern == Hatch::falling || pattern == Hatch::crossed) diagonals(false);
  return strokes;
}

}  // namespace stowage::drawing
