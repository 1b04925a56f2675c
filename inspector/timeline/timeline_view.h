// SPDX-License-Identifier: Apache-2.0
// A picture over time that can be zoomed and panned: wheel, W and S, + and - zoom at the pointer or the middle; A and D
// and drags pan; a drag with shift selects a span; F shows everything. A click sets the cursor; a drag of it, comma and
// period move it, with shift to where something changes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "inspector/draw/drawing_view.h"

namespace stowage::inspector {

class TimelineView : public DrawingView {
  Q_OBJECT
 public:
  explicit TimelineView(const Look& look, QWidget* parent = nullptr);

  /// How many cycles there are at all; shows all of them.
  void setWhole(std::int64_t cycles);
  /// Where the axis is in the picture as it was built last: pixels of the first and the last cycle shown.
  void setAxis(double left, double right);
  [[nodiscard]] double axisLeft() const { return left_; }
  [[nodiscard]] double axisRight() const { return right_; }
  [[nodiscard]] std::int64_t from() const { return from_; }
  [[nodiscard]] std::int64_t to() const { return to_; }
  [[nodiscard]] std::int64_t spanFrom() const { return span_from_; }
  [[nodiscard]] std::int64_t spanTo() const { return span_to_; }

  void showAll();
  /// Shows these, as far as the timeline has them.
  void showCycles(std::int64_t from, std::int64_t to);
  /// More than 1 shows less, larger; the cycle at `x` stays there.
  void zoom(double factor, double x);
  /// By a part of what is shown.
  void pan(double part);
  void selectSpan(std::int64_t from, std::int64_t to);
  /// A cycle; below 0 there is none.
  [[nodiscard]] std::int64_t cursor() const { return cursor_; }
  void setCursorCycle(std::int64_t cycle);
  /// Makes the marks of the cursor, the drawing's passing ones, when it moves, or nothing where all is to be made anew.
  using CursorMarks = std::function<std::optional<std::vector<Mark>>()>;
  void setCursorMarks(CursorMarks marks) { cursor_marks_ = std::move(marks); }
  /// Pans to it where it is out of sight.
  void showCursor();

 Q_SIGNALS:
  void viewChanged();
  void spanChanged();
  void cursorChanged();
  /// Wanted at the change before (-1) or behind (1) the cursor.
  void changeWanted(int direction);

 protected:
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] std::int64_t cycleAt(double x) const;
  [[nodiscard]] bool isAtCursor(double x) const;
  void moveCursor(double part);
  [[nodiscard]] double middle() const { return (left_ + right_) / 2; }

  CursorMarks cursor_marks_;
  std::int64_t whole_ = 0;
  std::int64_t from_ = 0;
  std::int64_t to_ = 0;
  std::int64_t span_from_ = 0;
  std::int64_t span_to_ = 0;
  std::int64_t cursor_ = -1;
  double left_ = 0;
  double right_ = 1;
  enum class Drag : std::uint8_t { none, pressed, pans, selects, moves_cursor } drag_ = Drag::none;
  QPointF pressed_;
  std::int64_t pressed_from_ = 0;   ///< what was shown first then
  std::int64_t pressed_cycle_ = 0;  ///< where
};

}  // namespace stowage::inspector
