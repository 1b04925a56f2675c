// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/replay_sheet.h"

namespace stowage::inspector {

void ReplaySheet::heading(double x, double room, const QString& text, const QString& note) {
  const QFont font = look.titleFont();
  const double used = QFontMetricsF(font).horizontalAdvance(text) + 10;
  drawing.text({x, y, room, row_of(font)}, text, look.theme().text, font);
  if (!note.isEmpty()) {
    drawing.text({x + used, y, room - used, row_of(font)}, note, look.theme().muted, look.smallFont());
  }
  y += row_of(font) + 2;
}

QColor ReplaySheet::color_of(ReplayLine::Kind kind) const {
  switch (kind) {
    case ReplayLine::Kind::get: return look.theme().state(BufferState::filling);
    case ReplayLine::Kind::put: return look.theme().state(BufferState::draining);
    case ReplayLine::Kind::init: return look.theme().state(BufferState::idle);
    case ReplayLine::Kind::compute: return look.theme().state(BufferState::in_use);
    default: return {};
  }
}

QColor ReplaySheet::color_of(const ReplayBuffer& buffer) const {
  switch (buffer.kind) {
    case ModelBuffer::Kind::input: return color_of(ReplayLine::Kind::get);
    case ModelBuffer::Kind::output: return color_of(ReplayLine::Kind::put);
    case ModelBuffer::Kind::intermediate: return color_of(ReplayLine::Kind::compute);
  }
  return {};
}

}  // namespace stowage::inspector
