// SPDX-License-Identifier: Apache-2.0
// The computation graph, the fused graph, or both side by side: what is chosen in one is lit in the other. A layout of
// our own is there at once; that of Graphviz replaces it when `dot` has answered.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>

#include "inspector/draw/drawing_view.h"
#include "inspector/graph/graph_view.h"
#include "inspector/panes/pane.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

/// Larger graphs keep our layout: dot takes seconds for a thousand nodes, and minutes for ten thousand.
constexpr std::size_t max_nodes_for_dot = 600;

class GraphPane : public Pane {
  Q_OBJECT
 public:
  explicit GraphPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return fused_->isHidden() ? *computation_ : *fused_; }
  QLineEdit* searchLine() override { return search_; }
  [[nodiscard]] bool working() const override { return Pane::working() || work_.busy(); }

  enum class Mode : std::uint8_t { fused, computation, both };
  void setMode(Mode mode);
  void setMetric(GraphMetric metric);
  [[nodiscard]] GraphMetric graphMetric() const { return static_cast<GraphMetric>(metric_->currentIndex()); }
  /// Lights the nodes that match a regular expression and goes to the first; an empty one ends it.
  void search(const QString& expression);
  void goToMatch(int step);
  [[nodiscard]] std::size_t matchCount() const { return matches_.size(); }
  [[nodiscard]] GraphView& view(GraphKind kind) { return kind == GraphKind::fused ? *fused_ : *computation_; }
  [[nodiscard]] QString remark() const { return remark_->text(); }
  [[nodiscard]] bool busy() const { return work_.busy(); }

 protected:
  void refresh(unsigned changes) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  struct Laid;
  void connectParts();
  void flip(StepId step);
  void layOut();
  void showLaid(const Laid& laid);
  void askDot(const std::shared_ptr<const Laid>& laid);
  void recolour();
  void followComparison();
  void placeLegend();
  void showMatches(bool go);
  [[nodiscard]] std::vector<GraphKind> kinds() const;
  [[nodiscard]] std::vector<GraphWish> wishes() const;
  [[nodiscard]] std::vector<std::string> folders() const;
  /// Work for a thread of its own.
  static std::shared_ptr<const Laid> lay_out(const PlanPtr& plan, const std::vector<GraphWish>& wishes,
                                             const std::vector<std::string>& folders, std::stop_token stop);
  void finishNow();

  QComboBox* mode_;
  QComboBox* metric_;
  QLineEdit* search_;
  QLabel* count_;
  QLabel* remark_;
  GraphView* computation_;
  GraphView* fused_;
  DrawingView* legend_;
  std::set<StepId> flipped_;
  PlanPtr laid_plan_;
  bool follows_comparison_ = false;
  int metric_before_ = 0;  ///< the one that was wished before two plans were compared
  bool keep_sight_ = false;
  bool dirty_ = true;  ///< what is shown is not what is wished
  std::vector<std::pair<GraphView*, int>> matches_;
  int match_ = -1;
  Background work_;  ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
