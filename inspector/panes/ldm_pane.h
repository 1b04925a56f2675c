// SPDX-License-Identifier: Apache-2.0
// A core's scratchpad as address × program order, what its buffers hold of their tensors at a position of the loops,
// and main memory with the lifetimes of its tensors.
#pragma once

#include <QSplitter>
#include <QTabWidget>

#include "inspector/draw/drawing_view.h"
#include "inspector/ldm/loop_sliders.h"
#include "inspector/panes/pane.h"

namespace stowage::inspector {

class LdmPane : public Pane {
  Q_OBJECT
 public:
  explicit LdmPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *scratchpad_; }

  [[nodiscard]] DrawingView& scratchpad() { return *scratchpad_; }
  [[nodiscard]] DrawingView& regions() { return *regions_; }
  [[nodiscard]] QWidget& lower() { return *lower_; }
  [[nodiscard]] DrawingView& memory() { return *memory_; }
  [[nodiscard]] LoopSliders& sliders() { return *sliders_; }

 protected:
  void refresh(unsigned changes) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] std::vector<Drawing> pages(QSizeF room);
  void divide();
  /// Null where the timeline's cursor is not in the group that is shown.
  [[nodiscard]] const TimeCursor* cursor() const;
  void followCursor();

  QSplitter* split_;
  DrawingView* scratchpad_;
  QTabWidget* lower_;
  LoopSliders* sliders_;
  DrawingView* regions_;
  DrawingView* memory_;
  std::optional<StepId> shown_step_;
  bool by_hand_ = false;        ///< somebody moved the splitter
  double export_height_ = 800;  ///< that the picture was measured for
};

}  // namespace stowage::inspector
