// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/scene_drawing.h"

#include <QFontMetricsF>
#include <array>

namespace stowage::inspector {

namespace {

using drawing::Align;
using drawing::Dash;
using drawing::Font;
using drawing::Hatch;
using drawing::Ink;
using drawing::Shape;

QFont font_of(Font font, const Look& look) {
  switch (font) {
    case Font::small: return look.smallFont();
    case Font::text: return look.textFont();
    case Font::title: return look.titleFont();
  }
  return look.textFont();
}

Qt::BrushStyle pattern_of(Hatch pattern) {
  switch (pattern) {
    case Hatch::none: return Qt::SolidPattern;
    case Hatch::rising: return Qt::BDiagPattern;
    case Hatch::falling: return Qt::FDiagPattern;
    case Hatch::crossed: return Qt::DiagCrossPattern;
  }
  return Qt::SolidPattern;
}

Qt::PenStyle pen_of(Dash dash) {
  switch (dash) {
    case Dash::none: return Qt::SolidLine;
    case Dash::dots: return Qt::DotLine;
    case Dash::dashes: return Qt::DashLine;
  }
  return Qt::SolidLine;
}

Qt::Alignment alignment_of(Align align) {
  switch (align) {
    case Align::left: return Qt::AlignLeft;
    case Align::middle: return Qt::AlignHCenter;
    case Align::right: return Qt::AlignRight;
  }
  return Qt::AlignLeft;
}

Mark::Kind kind_of(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::box: return Mark::Kind::rect;
    case Shape::Kind::ellipse: return Mark::Kind::ellipse;
    case Shape::Kind::line: return Mark::Kind::line;
    case Shape::Kind::text: return Mark::Kind::text;
  }
  return Mark::Kind::rect;
}

Mark mark_of(const Shape& shape, const Look& look) {
  const Theme& theme = look.theme();
  const bool is_text = shape.kind == Shape::Kind::text;
  Mark mark;
  mark.kind = kind_of(shape.kind);
  mark.rect = QRectF(shape.box.x, shape.box.y, shape.box.width, shape.box.height);
  for (const drawing::Point& point : shape.points) mark.points << QPointF(point.x, point.y);
  mark.stroke = color_of(shape.stroke, theme);
  if (is_text && shape.fill != Ink::none) {
    mark.stroke = theme.on(color_of(shape.fill, theme));
  } else if (!is_text) {
    mark.fill = color_of(shape.fill, theme);
  }
  mark.pattern = pattern_of(shape.pattern);
  mark.width = shape.width;
  mark.pen = pen_of(shape.dash);
  mark.radius = shape.radius;
  mark.text = qt(shape.text);
  mark.elide = shape.cut == drawing::Cut::middle ? Qt::ElideMiddle : Qt::ElideRight;
  mark.alignment = (alignment_of(shape.align) | Qt::AlignVCenter).toInt();
  mark.upward = shape.upward;
  if (is_text) mark.font = font_of(shape.font, look);
  if (shape.subject) {
    mark.subject = Subject{.step = shape.subject->step,
                           .op = shape.subject->op,
                           .buffer = shape.subject->buffer,
                           .statement = shape.subject->statement};
  }
  mark.item = shape.item;
  mark.tip = qt(shape.tip);
  return mark;
}

}  // namespace

void TextWidths::use(const Look& look) {
  const std::array<QString, 3> fonts = {look.smallFont().key(), look.textFont().key(), look.titleFont().key()};
  if (fonts == fonts_) return;
  fonts_ = fonts;
  widths_ = {};
}

drawing::Sheet sheet_of(const Look& look, QSizeF room, TextWidths* widths) {
  drawing::Sheet sheet;
  sheet.width = room.width();
  sheet.height = room.height();
  sheet.units = look.units();
  const std::array<QFontMetricsF, 3> metrics = {QFontMetricsF(look.smallFont()), QFontMetricsF(look.textFont()),
                                                QFontMetricsF(look.titleFont())};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    sheet.fonts.heights[i] = metrics[i].height();
    sheet.fonts.ascents[i] = metrics[i].ascent();
  }
  if (widths != nullptr) widths->use(look);
  sheet.fonts.width = [metrics, widths](Font font, const std::string& text) {
    const auto measure = [&] { return metrics[static_cast<std::size_t>(font)].horizontalAdvance(qt(text)); };
    return widths == nullptr ? measure() : widths->width(font, text, measure);
  };
  return sheet;
}

QColor color_of(Ink ink, const Theme& theme) {
  switch (ink) {
    case Ink::none: return {};
    case Ink::text: return theme.text;
    case Ink::muted: return theme.muted;
    case Ink::line: return theme.line;
    case Ink::base: return theme.base;
    case Ink::raised: return theme.raised;
    case Ink::error: return theme.error;
    case Ink::band: {
      QColor band = theme.accent;
      band.setAlphaF(0.15F);
      return band;
    }
    case Ink::launch: return theme.category(7);
    case Ink::get: return theme.state(BufferState::filling);
    case Ink::compute: return theme.state(BufferState::in_use);
    case Ink::put: return theme.state(BufferState::draining);
    case Ink::fill: return theme.category(3);
    case Ink::issue: return theme.category(4);
    case Ink::idle: return theme.state(BufferState::idle);
    case Ink::input: return theme.category(5);
    case Ink::between: return theme.category(0);
    case Ink::output: return theme.category(1);
    case Ink::chosen: return theme.category(3);
  }
  return theme.text;
}

Drawing drawn(const drawing::Scene& scene, const Look& look) {
  Drawing drawing;
  drawing.size = QSizeF(scene.width, scene.height);
  drawing.marks.reserve(scene.shapes.size());
  for (const Shape& shape : scene.shapes) drawing.marks.push_back(mark_of(shape, look));
  return drawing;
}

}  // namespace stowage::inspector
