// SPDX-License-Identifier: Apache-2.0
// The chosen group in time: cores, DMA and the slots of one core over the cycles of its launch, as the simulation has
// it. While two plans are compared, the baseline's below it on the same scale.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QSpinBox>
#include <QToolButton>
#include <vector>

#include "driver/drawing/timeline_chart.h"
#include "inspector/draw/scene_drawing.h"
#include "inspector/panes/pane.h"
#include "inspector/state/background.h"
#include "inspector/timeline/simulated.h"
#include "inspector/timeline/timeline_view.h"

namespace stowage::inspector {

class TimelinePane : public Pane {
  Q_OBJECT
 public:
  explicit TimelinePane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *view_; }
  [[nodiscard]] bool working() const override { return Pane::working() || simulating_.busy(); }

  [[nodiscard]] TimelineView& view() { return *view_; }
  [[nodiscard]] QSpinBox& core() { return *core_; }
  [[nodiscard]] QCheckBox& oneCore() { return *one_core_; }
  [[nodiscard]] const QLabel& statistics() const { return *statistics_; }
  /// Of the chosen group; null while it is simulated, and without any.
  [[nodiscard]] const TimelineTracks* tracks() const { return shown_.tracks.get(); }

 protected:
  void refresh(unsigned changes) override;

 private:
  void find();
  void show(const SimulatedGroup& current, const SimulatedGroup& baseline);
  /// Of the whole network.
  void findLaunches();
  void tellSpan();
  /// To the other panes.
  void tellCursor();
  void toChange(int direction);
  [[nodiscard]] int shownCore() const;
  [[nodiscard]] QStringList cursorLines() const;
  /// Of the chosen group without the cursor, which moves through it.
  struct Picture {
    drawing::TimelineView view;
    double width = 0;
    Drawing drawing;
    std::vector<drawing::TimelineChart> charts;  ///< of both, without their shapes
    std::vector<double> tops;                    ///< where they begin
  };
  [[nodiscard]]  /// Tells a view where the axis is in it, if one shows it.
  Drawing
  build(QSizeF room, TimelineView* told);
  const Picture& picture(const drawing::TimelineView& view, double width);
  [[nodiscard]] std::vector<Mark> cursorMarks(const Picture& picture) const;
  /// Of the picture that is shown, nothing where that is to be made anew; no marks of a cursor that is nowhere.
  [[nodiscard]] std::optional<std::vector<Mark>> cursorMarks() const;
  [[nodiscard]] Drawing message(QSizeF room) const;
  [[nodiscard]] std::optional<StepId> baselineStep() const;

  QSpinBox* core_;
  QCheckBox* one_core_;
  QToolButton* whole_;
  TimelineView* view_;
  QLabel* statistics_;
  SimulatedGroups known_;
  SimulatedGroup shown_;
  SimulatedGroup baseline_;
  std::vector<Picture> pictures_;  ///< for a room with a scroll bar and without, as they were looked at last
  TextWidths widths_;              ///< of what they say
  SimulatedSteps launches_;        ///< of launches_plan_, once the whole network was looked at
  PlanPtr launches_plan_;
  PlanPtr shown_plan_;
  PlanPtr baseline_plan_;
  std::optional<StepId> shown_step_;
  std::optional<StepId> baseline_step_;
  Background simulating_;  ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
