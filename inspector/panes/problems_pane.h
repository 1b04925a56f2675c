// SPDX-License-Identifier: Apache-2.0
// Diagnostics of the last opening: what was found, where, and what to do about it.
#pragma once

#include <QPlainTextEdit>
#include <QTreeWidget>

#include "inspector/panes/pane.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

class ProblemsPane : public Pane {
  Q_OBJECT
 public:
  explicit ProblemsPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *list_; }
  [[nodiscard]] QTreeWidget& list() { return *list_; }
  [[nodiscard]] QString details() const { return details_->toPlainText(); }

 protected:
  void refresh(unsigned changes) override;

 private:
  void showDetails(int row);
  void jump(int row);

  QTreeWidget* list_;
  QPlainTextEdit* details_;
  Background looking_;  ///< last: its destructor joins before the rest goes
};

/// The operator or fused operator that a diagnostic speaks of, if this plan has it.
Subject subject_of(const LoadedPlan& plan, const Diagnostic& diagnostic);

}  // namespace stowage::inspector
