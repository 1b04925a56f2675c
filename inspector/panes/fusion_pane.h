// SPDX-License-Identifier: Apache-2.0
// Why operators are fused as they are: every candidate group with its fate, the partial executions around the chosen
// partition, what other strategies would make of the network, and why two operators are not one group.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTabBar>

#include "inspector/draw/drawing_view.h"
#include "inspector/fusion/strategy_comparison.h"
#include "inspector/fusion/strategy_path.h"
#include "inspector/fusion/why_not_question.h"
#include "inspector/panes/pane.h"
#include "inspector/tables/filter_line.h"
#include "inspector/tables/table_view.h"

namespace stowage::inspector {

class FusionPane : public Pane {
  Q_OBJECT
 public:
  enum Tab : int { candidates_tab, path_tab, strategies_tab };

  explicit FusionPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override;
  QLineEdit* searchLine() override;
  [[nodiscard]] bool working() const override { return Pane::working() || listing_.busy() || asking_.busy(); }
  [[nodiscard]] bool busy() const override { return working() || comparing_.busy(); }

  void setTab(Tab tab) { tabs_->setCurrentIndex(tab); }
  [[nodiscard]] TableView& candidates() { return *candidates_; }
  [[nodiscard]] DrawingView& path() { return *path_view_; }
  [[nodiscard]] TableView& strategies() { return *strategies_; }
  [[nodiscard]] TableView& differences() { return *differences_; }
  [[nodiscard]] QLineEdit& first() { return *first_; }
  [[nodiscard]] QLineEdit& second() { return *second_; }
  [[nodiscard]] QString answer() const { return answer_->toPlainText(); }
  /// Plans the network with every strategy, on a worker thread.
  void compare();

 protected:
  void refresh(unsigned changes) override;

 private:
  QWidget* makeCandidates();
  QWidget* makePath();
  QWidget* makeStrategies();
  QWidget* makeQuestion();
  void fitStack();
  void showCandidates();
  void showNetwork();
  void followSelection();
  /// Fills the two fields and answers.
  void askAbout(const std::vector<OpId>& operators);
  /// Answers what the fields ask.
  void ask();
  void answerAbout(std::vector<std::string> names);
  [[nodiscard]] Drawing answerDrawing(double width) const;
  [[nodiscard]] std::vector<Drawing> pages(QSizeF room);

  QTabBar* tabs_;
  QStackedWidget* stack_;
  TableView* candidates_;
  QComboBox* fate_;
  FilterLine* filter_;
  QCheckBox* around_;
  DrawingView* path_view_;
  QSpinBox* neighbours_;
  TableView* strategies_;
  TableView* differences_;
  QPushButton* compare_;
  QProgressBar* bar_;
  QLabel* hint_;
  QLineEdit* first_;
  QLineEdit* second_;
  QPlainTextEdit* answer_;

  StrategyPath path_;
  std::vector<StrategyResult> results_;
  WhyNotQuestionPtr question_;  ///< null until the first one was asked
  Subject before_;
  bool listed_ = false;  ///< candidates of this plan and selection are shown, or will be at once
  Background listing_;   ///< of candidates: a large network has very many
  Background asking_;
  Background comparing_;  ///< last: their destructors join before the rest goes
};

}  // namespace stowage::inspector
