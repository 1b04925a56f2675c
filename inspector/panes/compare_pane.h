// SPDX-License-Identifier: Apache-2.0
// Two plans compared: the baseline and the current one, which is what all panes show. Either is chosen among what is
// open, snapshots, and what was planned with edits.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QTabWidget>
#include <QToolButton>

#include "driver/diff/plan_diff.h"
#include "inspector/code/code_view.h"
#include "inspector/panes/pane.h"
#include "inspector/tables/filter_line.h"
#include "inspector/tables/table_view.h"

namespace stowage::inspector {

class ComparePane : public Pane {
  Q_OBJECT
 public:
  explicit ComparePane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override;
  QLineEdit* searchLine() override;

  [[nodiscard]] QString verdictText() const { return verdict_->text(); }
  [[nodiscard]] TableView& changes() { return *changes_; }
  [[nodiscard]] TableView& totals() { return *totals_; }
  [[nodiscard]] TableView& details() { return *details_; }
  [[nodiscard]] QComboBox& baselineChoice() { return *baseline_; }
  [[nodiscard]] QComboBox& currentChoice() { return *current_; }

 protected:
  void refresh(unsigned changes) override;

 private:
  void connectParts();
  void fillChoices();
  void showGroup();
  void swap();
  [[nodiscard]] std::vector<KeptPlan> choices() const;

  QComboBox* baseline_;
  QComboBox* current_;
  QToolButton* swap_;
  QToolButton* open_;
  QLabel* verdict_;
  FilterLine* filter_;
  QTabWidget* tabs_;
  TableView* changes_;
  TableView* totals_;
  TableView* details_;
  CodeView* nest_before_;
  CodeView* nest_after_;
};

}  // namespace stowage::inspector
