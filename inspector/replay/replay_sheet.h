// SPDX-License-Identifier: Apache-2.0
// The parts of a step's picture, one below the other: each draws where the last one ended.
#pragma once

#include <QFontMetricsF>

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/replay/replay.h"

namespace stowage::inspector {

struct ReplaySheet {
  static constexpr double margin = 12;

  const Look& look;
  double width = 0;
  double y = 0;  ///< where the next part begins
  Drawing drawing = {};

  [[nodiscard]] static double row_of(const QFont& font) { return QFontMetricsF(font).height() + 3; }
  /// A part's title, with a remark behind it.
  void heading(double x, double room, const QString& text, const QString& note = {});
  /// Of what a line of the nest does; none for a loop.
  [[nodiscard]] QColor color_of(ReplayLine::Kind kind) const;
  /// A buffer has the colour of what moves it: the same as its lines in the nest.
  [[nodiscard]] QColor color_of(const ReplayBuffer& buffer) const;
};

/// The phases side by side, each with a tick for every step, and the key to their symbols.
void add_phases(ReplaySheet& sheet, const Replay& replay, std::size_t step);
/// One core's LDM, buffer by buffer, against its capacity.
void add_ldm(ReplaySheet& sheet, const Replay& replay, const ReplayStep& step, double x, double width);
/// Tables of what each loop would cost as the innermost of those without a place, side by side.
void add_rounds(ReplaySheet& sheet, const ReplayStep& step, double x, double width);

}  // namespace stowage::inspector
