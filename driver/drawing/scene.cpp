// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/scene.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace stowage::drawing {

namespace {

constexpr std::array<std::string_view, ink_count> ink_names = {
    "none",    "text", "muted", "line",  "base", "raised", "error",   "band",   "launch", "get",
    "compute", "put",  "fill",  "issue", "idle", "input",  "between", "output", "chosen"};

/// On one line.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string("\\n") : std::string(1, c);
  return line;
}

std::string text_of_look(const Shape& shape) {
  std::string text;
  if (shape.fill != Ink::none) {
    text += fmt::format(" {} {}", shape.kind == Shape::Kind::text ? "on" : "fill", name_of(shape.fill));
  }
  if (shape.stroke != Ink::none) {
    text += fmt::format(" {} {}", shape.kind == Shape::Kind::text ? "ink" : "stroke", name_of(shape.stroke));
  }
  static constexpr std::array patterns = {"", " rising", " falling", " crossed"};
  static constexpr std::array dashes = {"", " dots", " dashes"};
  return text + patterns[static_cast<std::size_t>(shape.pattern)] + dashes[static_cast<std::size_t>(shape.dash)];
}

std::string subject_of(const Shape& shape) {
  if (!shape.subject) return "";
  std::string text = shape.subject->step ? fmt::format(" of step {}", shape.subject->step->index()) : " of no step";
  if (shape.subject->op) text += fmt::format(" operator {}", shape.subject->op->index());
  if (shape.subject->buffer) text += fmt::format(" buffer {}", shape.subject->buffer->index());
  if (shape.subject->statement) text += fmt::format(" statement {}", shape.subject->statement->index());
  return text;
}

}  // namespace

std::string_view name_of(Ink ink) { return ink_names[static_cast<std::size_t>(ink)]; }

Shape& Scene::box(const Box& box, Ink fill, Ink stroke) {
  Shape shape;
  shape.box = box;
  shape.fill = fill;
  shape.stroke = stroke;
  return shapes.emplace_back(std::move(shape));
}

Shape& Scene::ellipse(const Box& box, Ink fill, Ink stroke) {
  Shape& shape = this->box(box, fill, stroke);
  shape.kind = Shape::Kind::ellipse;
  return shape;
}

Shape& Scene::line(Point from, Point to, Ink stroke, double thickness) {
  return polyline({from, to}, stroke, thickness);
}

Shape& Scene::polyline(std::vector<Point> points, Ink stroke, double thickness) {
  Shape shape;
  shape.kind = Shape::Kind::line;
  shape.points = std::move(points);
  shape.stroke = stroke;
  shape.width = thickness;
  return shapes.emplace_back(std::move(shape));
}

Shape& Scene::text(const Box& box, std::string text, Ink ink, Font font, Align align) {
  Shape shape;
  shape.kind = Shape::Kind::text;
  shape.box = box;
  shape.text = std::move(text);
  shape.stroke = ink;
  shape.font = font;
  shape.align = align;
  return shapes.emplace_back(std::move(shape));
}

std::string to_text(const Scene& scene) {
  std::string text = fmt::format("{} {:.0f}x{:.0f}\n", scene.title, scene.width, scene.height);
  for (const Shape& shape : scene.shapes) {
    switch (shape.kind) {
      case Shape::Kind::box: text += "  box"; break;
      case Shape::Kind::ellipse: text += "  ellipse"; break;
      case Shape::Kind::line: text += "  line"; break;
      case Shape::Kind::text: text += "  text"; break;
    }
    for (const Point& point : shape.points) text += fmt::format(" {:.0f},{:.0f}", point.x, point.y);
    if (shape.kind != Shape::Kind::line) {
      text += fmt::format(" {:.0f},{:.0f} {:.0f}x{:.0f}", shape.box.x, shape.box.y, shape.box.width, shape.box.height);
    }
    text += text_of_look(shape) + (shape.upward ? " upward" : "") + subject_of(shape);
    if (!shape.text.empty()) text += fmt::format(" \"{}\"", one_line(shape.text));
    if (!shape.tip.empty()) text += fmt::format(" tip \"{}\"", one_line(shape.tip));
    text += '\n';
  }
  return text;
}

}  // namespace stowage::drawing
