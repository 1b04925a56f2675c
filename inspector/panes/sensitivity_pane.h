// SPDX-License-Identifier: Apache-2.0
// What the network takes as one value of the target changes: a curve with its knees, and what changes there in words.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>

#include "inspector/draw/drawing_view.h"
#include "inspector/panes/pane.h"
#include "inspector/sensitivity/asked_curve.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

class SensitivityPane : public Pane {
  Q_OBJECT
 public:
  explicit SensitivityPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *chart_; }
  [[nodiscard]] bool busy() const override { return working() || calculating_.busy(); }

  [[nodiscard]] QComboBox& key() { return *key_; }
  [[nodiscard]] QLineEdit& from() { return *from_; }
  [[nodiscard]] QLineEdit& to() { return *to_; }
  /// Whether values are multiplied or added to, and by what.
  [[nodiscard]] QComboBox& by() { return *by_; }
  [[nodiscard]] QLineEdit& amount() { return *amount_; }
  [[nodiscard]] QPushButton& button() { return *calculate_; }
  [[nodiscard]] DrawingView& chart() { return *chart_; }
  [[nodiscard]] QString words() const { return words_->toPlainText(); }
  /// The newest curve of the plan; null before the first.
  [[nodiscard]] const std::shared_ptr<const Curve>& curve() const { return curve_; }
  /// Compiles the network for every value, on a worker thread.
  void calculate();

 protected:
  void refresh(unsigned changes) override;

 private:
  void makeBar();
  void showPlan();
  void showRange();
  [[nodiscard]] RangeText range() const;
  void take(const AskedCurve& asked);
  [[nodiscard]] Drawing picture(QSizeF room) const;
  [[nodiscard]] Drawing wordsDrawing(double width) const;

  QComboBox* key_;
  QLineEdit* from_;
  QLineEdit* to_;
  QComboBox* by_;
  QLineEdit* amount_;
  QPushButton* calculate_;
  QProgressBar* bar_;
  DrawingView* chart_;
  QPlainTextEdit* words_;
  std::shared_ptr<const Curve> curve_;
  Background calculating_;  ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
