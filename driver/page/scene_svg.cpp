// SPDX-License-Identifier: Apache-2.0
#include "driver/page/scene_svg.h"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/quoting.h"

namespace stowage {

namespace {

using drawing::Align;
using drawing::Dash;
using drawing::Font;
using drawing::Hatch;
using drawing::Ink;
using drawing::Point;

/// Pixels of a font; style.css has the same.
constexpr std::array<double, 3> font_sizes = {11, 12.5, 14};

/// Widths of Helvetica's characters in thousandths of the font's size; Arial and Liberation Sans are as wide.
constexpr std::array<std::pair<std::string_view, double>, 15> character_widths = {{
    {"ijl'|", 222},
    {" !,./:;I[]\\ft", 278},
    {"()-`r\"{}", 340},
    {"*^", 430},
    {"ckvxyzsJ", 500},
    {"0123456789abdeghnopquL#$?_", 556},
    {"+<=>~", 584},
    {"FTZ", 611},
    {"ABEKPSVXY&", 667},
    {"CDHNRUw", 722},
    {"GOQ", 778},
    {"Mm", 833},
    {"%", 889},
    {"W", 944},
    {"@", 1015},
}};

double width_of_ascii(char c) {
  for (const auto& [characters, width] : character_widths) {
    if (characters.find(c) != std::string_view::npos) return width;
  }
  return 0;  // a control character, which is not written
}

/// In thousandths of the font's size.
double width_of(std::string_view text) {
  double width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80U) {
      width += width_of_ascii(text[i]);
    } else if (byte >= 0xE0U) {
      width += 1000;  // arrows, ideographs
    } else if (byte >= 0xC0U) {
      width += 600;
    }
  }
  return width;
}

double page_width(Font font, const std::string& text) {
  // Some more than the font says: browsers round, and the page may be shown in a like font.
  const double reserve = font == Font::title ? 1.1 : 1.04;
  return reserve * width_of(text) * font_sizes[static_cast<std::size_t>(font)] / 1000;
}

/// "12.3", "12".
std::string pixels(double value) {
  const double tenths = std::round(value * 10);
  return std::fmod(tenths, 10) == 0 ? fmt::format("{:.0f}", tenths / 10 + 0.0) : fmt::format("{:.1f}", tenths / 10);
}

/// ` class="get o-line"`, or nothing.
std::string class_attribute(const std::vector<std::string>& classes) {
  std::string text;
  for (const std::string& name : classes) text += (text.empty() ? "" : " ") + name;
  return text.empty() ? "" : fmt::format(R"( class="{}")", text);
}

std::string attributes_of(const drawing::Shape& shape) {
  std::vector<std::string> classes;
  if (shape.fill != Ink::none) classes.emplace_back(name_of(shape.fill));
  if (shape.stroke != Ink::none) classes.push_back("o-" + std::string(name_of(shape.stroke)));
  if (shape.dash != Dash::none) classes.emplace_back(shape.dash == Dash::dots ? "dots" : "dashes");
  std::string text = class_attribute(classes);
  if (shape.stroke != Ink::none && shape.width != 1) text += fmt::format(R"( stroke-width="{}")", pixels(shape.width));
  return text;
}

std::string hatch_of(const drawing::Shape& shape) {
  if (shape.pattern == Hatch::none) return "";
  std::string path;  // whole pixels: most of a page's hatching is many short numbers
  for (const auto& [from, to] : drawing::hatching(shape.box, shape.pattern)) {
    path += fmt::format("M{:.0f} {:.0f}l{:.0f} {:.0f}", from.x, from.y, to.x - from.x, to.y - from.y);
  }
  return fmt::format(R"(<path class="hatch" d="{}"/>)", path);
}

/// `inside` is what goes between its begin and its end.
std::string shape_element(const drawing::Shape& shape, const std::string& inside) {
  const auto element = [&](const std::string& name, const std::string& attributes) {
    return inside.empty() ? fmt::format("<{}{}/>", name, attributes)
                          : fmt::format("<{0}{1}>{2}</{0}>", name, attributes, inside);
  };
  const drawing::Box& box = shape.box;
  if (shape.kind == drawing::Shape::Kind::line) {
    std::string points;
    for (const Point& point : shape.points) {
      points += (points.empty() ? "" : " ") + pixels(point.x) + "," + pixels(point.y);
    }
    return element("polyline", fmt::format(R"( points="{}"{})", points, attributes_of(shape)));
  }
  if (shape.kind == drawing::Shape::Kind::ellipse) {
    return element("ellipse",
                   fmt::format(R"( cx="{}" cy="{}" rx="{}" ry="{}"{})", pixels(box.middle().x), pixels(box.middle().y),
                               pixels(box.width / 2), pixels(box.height / 2), attributes_of(shape)));
  }
  const std::string corners = shape.radius > 0 ? fmt::format(R"( rx="{}")", pixels(shape.radius)) : "";
  return element("rect", fmt::format(R"( x="{}" y="{}" width="{}" height="{}"{}{})", pixels(box.x), pixels(box.y),
                                     pixels(box.width), pixels(box.height), corners, attributes_of(shape))) +
         hatch_of(shape);
}

std::string text_element(const drawing::Shape& shape, const std::string& inside) {
  const double size = font_sizes[static_cast<std::size_t>(shape.font)];
  const double along = shape.upward ? shape.box.height : shape.box.width;
  const double across = shape.upward ? shape.box.width : shape.box.height;
  const double from = shape.align == Align::left ? 0 : shape.align == Align::middle ? along / 2 : along;
  const double baseline = across / 2 + 0.35 * size;
  std::vector<std::string> classes;
  if (shape.fill != Ink::none) {
    classes.emplace_back("on");
  } else if (shape.stroke != Ink::text) {
    classes.emplace_back(name_of(shape.stroke));
  }
  if (shape.font != Font::small) classes.emplace_back(shape.font == Font::text ? "usual" : "title");
  if (shape.align != Align::left) classes.emplace_back(shape.align == Align::middle ? "centred" : "ends");
  const std::string place =
      shape.upward ? fmt::format(R"svg( transform="translate({} {})rotate(-90)" x="{}" y="{}")svg", pixels(shape.box.x),
                                 pixels(shape.box.bottom()), pixels(from), pixels(baseline))
                   : fmt::format(R"( x="{}" y="{}")", pixels(shape.box.x + from), pixels(shape.box.y + baseline));
  const std::string text = drawing::elided(shape.text, along + 0.5, shape.cut,
                                           [&](const std::string& part) { return page_width(shape.font, part); });
  return fmt::format("<text{}{}>{}{}</text>", place, class_attribute(classes), inside, escaped(text));
}

}  // namespace

drawing::Sheet page_sheet(double width, double height) {
  drawing::Sheet sheet;
  sheet.width = width;
  sheet.height = height;
  sheet.fonts.width = page_width;
  for (std::size_t i = 0; i < font_sizes.size(); ++i) {
    sheet.fonts.heights[i] = std::ceil(font_sizes[i] * 1.2);
    sheet.fonts.ascents[i] = std::round(font_sizes[i] * 0.9);
  }
  sheet.titled = false;
  return sheet;
}

std::string to_svg(const drawing::Scene& scene, const LinkOf& link) {
  // A picture with links is a group of them to who cannot see it.
  std::string svg =
      fmt::format("<svg class=\"scene\" viewBox=\"0 0 {} {}\" role=\"{}\" aria-label=\"{}\">\n", pixels(scene.width),
                  pixels(scene.height), link ? "group" : "img", escaped(scene.title));
  for (const drawing::Shape& shape : scene.shapes) {
    const std::string tip = shape.tip.empty() ? "" : fmt::format("<title>{}</title>", escaped(shape.tip));
    const std::string element =
        shape.kind == drawing::Shape::Kind::text ? text_element(shape, tip) : shape_element(shape, tip);
    const std::string target = link && shape.subject ? link(*shape.subject) : "";
    svg += target.empty() ? element : fmt::format(R"(<a href="{}">{}</a>)", escaped(target), element);
    svg += '\n';
  }
  return svg + "</svg>\n";
}

}  // namespace stowage
