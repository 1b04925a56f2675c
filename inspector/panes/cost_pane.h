// SPDX-License-Identifier: Apache-2.0
// What the time is spent on: terms of the estimate with formula and source, bytes per tensor, the roofline.
#pragma once

#include "inspector/draw/drawing_view.h"
#include "inspector/panes/pane.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

class CostPane : public Pane {
  Q_OBJECT
 public:
  explicit CostPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *terms_; }
  [[nodiscard]] DrawingView& terms() { return *terms_; }
  [[nodiscard]] DrawingView& roofs() { return *roofs_; }

 protected:
  void refresh(unsigned changes) override;

 private:
  /// Of the plan that is open; what is not simulated yet is left out.
  void simulate();

  DrawingView* terms_;
  DrawingView* roofs_;
  PlanPtr simulated_plan_;                     ///< of which it is known, or being found out
  IdVector<StepId, SimulatedStep> simulated_;  ///< by step
  Background simulating_;
  std::optional<StepId> shown_step_;
};

}  // namespace stowage::inspector
