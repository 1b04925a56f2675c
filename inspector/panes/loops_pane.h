// SPDX-License-Identifier: Apache-2.0
// The loop nest of the chosen group with its DMA in the gutter, and the emitted C beside it (below, where it is
// narrow), linked both ways.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QSplitter>

#include "inspector/code/code_view.h"
#include "inspector/draw/drawing_view.h"
#include "inspector/panes/pane.h"

namespace stowage::inspector {

class LoopsPane : public Pane {
  Q_OBJECT
 public:
  explicit LoopsPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *nest_; }

  [[nodiscard]] CodeView& nest() { return *nest_; }
  [[nodiscard]] CodeView& source() { return *source_; }

 protected:
  void refresh(unsigned changes) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// What badges and bars mean; with notes what the numbers are, too.
  [[nodiscard]] Drawing legend(double width, bool notes) const;
  static QString numbersText();
  void fitLegend();

  QLabel* title_;
  DrawingView* legend_;
  QCheckBox* declarations_;
  QCheckBox* show_source_;
  QSplitter* split_;
  CodeView* nest_;
  CodeView* source_;
  std::optional<StepId> shown_step_;
};

}  // namespace stowage::inspector
