// SPDX-License-Identifier: Apache-2.0
// A core's scratchpad as address × program order, and main memory with the lifetimes of its tensors.
#pragma once

#include <QSplitter>

#include "inspector/draw/drawing_view.h"
#include "inspector/panes/pane.h"

namespace stowage::inspector {

class LdmPane : public Pane {
  Q_OBJECT
 public:
  explicit LdmPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;

  [[nodiscard]] DrawingView& scratchpad() { return *scratchpad_; }
  [[nodiscard]] DrawingView& memory() { return *memory_; }

 protected:
  void refresh(unsigned changes) override;

 private:
  DrawingView* scratchpad_;
  DrawingView* memory_;
  int shown_step_ = -2;
};

}  // namespace stowage::inspector
