// SPDX-License-Identifier: Apache-2.0
// What the checker says of the chosen group's nest, or of a file of nests: every fault with its counter-example, shown
// at its place. Of an exercise the sheet is shown, and faults only once the answer is right or somebody gives up.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QToolButton>
#include <QTreeWidget>
#include <set>

#include "inspector/check/checked_code.h"
#include "inspector/code/code_view.h"
#include "inspector/panes/pane.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

class CheckPane : public Pane {
  Q_OBJECT
 public:
  explicit CheckPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *code_; }
  [[nodiscard]] bool working() const override { return Pane::working() || checking_.busy(); }

  [[nodiscard]] CodeView& code() { return *code_; }
  [[nodiscard]] QTreeWidget& list() { return *list_; }
  [[nodiscard]] QComboBox& nests() { return *nests_; }
  [[nodiscard]] QComboBox& targets() { return *targets_; }
  /// Checks what is open, a nest's text or exercises, anew for a target by name or TOML file.
  void checkFor(const QString& target);
  [[nodiscard]] QComboBox& family() { return *family_; }
  [[nodiscard]] QSpinBox& statement() { return *statement_; }
  [[nodiscard]] QPushButton& answer() { return *answer_; }
  [[nodiscard]] QPushButton& solution() { return *solution_; }
  [[nodiscard]] QToolButton& back() { return *back_; }
  [[nodiscard]] QString title() const { return title_->text(); }
  [[nodiscard]] QString sheet() const { return sheet_->toPlainText(); }
  [[nodiscard]] QString reply() const { return reply_->text(); }
  [[nodiscard]] QString details() const { return details_->toPlainText(); }
  /// The statement that is lit, and the one that it collides with.
  [[nodiscard]] std::optional<StatementId> litStatement() const { return lit_.statement; }
  [[nodiscard]] std::optional<StatementId> litOther() const { return lit_other_.statement; }

 protected:
  void refresh(unsigned changes) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeSheet();
  /// Takes what is open: a file's nest, or the chosen group's, which is checked beside the window's thread.
  void find();
  void show(const FileNest* nest);
  void showFaults();
  void showFault(int row);
  void showTargets();
  void chooseTarget(int index);
  void judge();
  /// A line of the nest was chosen.
  void choose(const Subject& chosen);
  void light();
  [[nodiscard]] bool hidesFaults() const;
  [[nodiscard]] QString message() const;
  /// What is shown; of a file the nest's place in it, which no other pane sees.
  [[nodiscard]] std::optional<StepId> shownStep() const;

  QComboBox* nests_;
  QComboBox* targets_;
  QLabel* title_;
  QToolButton* back_;
  QSplitter* split_;
  CodeView* code_;
  QWidget* exercise_;
  QPlainTextEdit* sheet_;
  QComboBox* family_;
  QSpinBox* statement_;
  QPushButton* answer_;
  QPushButton* solution_;
  QLabel* reply_;
  QTreeWidget* list_;
  QPlainTextEdit* details_;
  CheckedPtr file_;       ///< null: the plan's groups
  std::set<int> solved_;  ///< nests of the file whose faults may be seen
  std::shared_ptr<const FileNest> of_plan_;
  const FileNest* shown_ = nullptr;  ///< of the file, or of_plan_
  PlanPtr shown_plan_;
  std::optional<StepId> shown_step_;
  Subject lit_;
  Subject lit_other_;
  Background checking_;  ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
