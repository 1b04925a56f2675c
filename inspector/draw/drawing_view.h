// SPDX-License-Identifier: Apache-2.0
// Shows a Drawing that is made for the width at hand; what is higher scrolls. Shapes with a subject can be clicked,
// hovered over, and reached with the arrow keys.
#pragma once

#include <QAbstractScrollArea>
#include <functional>
#include <optional>
#include <vector>

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"

namespace stowage::inspector {

class DrawingView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  /// Makes the drawing for a room; it may be larger than that, then it scrolls.
  using Builder = std::function<Drawing(QSizeF room)>;

  explicit DrawingView(const Look& look, QWidget* parent = nullptr);
  void setBuilder(Builder builder);
  /// What is chosen and what the pointer is over: marks that hold it are outlined.
  void setLit(const Subject& chosen, const Subject& hovered);
  /// The one that is chosen of what the drawing lists itself, if one is. Its marks are outlined.
  void setItem(std::optional<int> item);
  [[nodiscard]] std::optional<int> item() const { return item_; }
  void rebuild();
  /// Puts others in the place of the drawing's passing marks, which the builder would put there too; only what either
  /// covers is painted again.
  void setPassing(std::vector<Mark> marks);
  [[nodiscard]] const Drawing& drawing() const { return drawing_; }
  [[nodiscard]] Drawing build(QSizeF room) const { return builder_ ? builder_(room) : Drawing(); }

 Q_SIGNALS:
  void chosen(const Subject& subject);
  void hovered(const Subject& subject);
  /// By a click, or by the arrow keys, which go from one to the next.
  void itemChosen(int item);
  /// By a double click or Enter.
  void itemActivated(int item);

 protected:
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QPointF origin() const;
  [[nodiscard]] const Mark* markAt(QPointF position) const;
  /// At or near a point, because a dot is small.
  [[nodiscard]] std::optional<int> itemAt(QPointF position) const;
  void step(QPointF direction);
  /// To the item before or after; false in a drawing without items.
  bool stepItem(int direction);

  const Look& look_;
  Builder builder_;
  Drawing drawing_;
  Subject chosen_;
  Subject hovered_;
  std::optional<int> item_;
};

/// Outlines the marks that hold what is chosen or hovered over.
void paint_lit(QPainter& painter, const Drawing& drawing, const Subject& chosen, const Subject& hovered,
               const Theme& theme);

}  // namespace stowage::inspector
