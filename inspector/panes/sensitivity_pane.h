// SPDX-License-Identifier: Apache-2.0
// What the network takes as one value of the target changes: a curve with its knees, what changes there in words, and
// the numbers of every value, whose plans can be compared with what is open.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>
#include <vector>

#include "inspector/draw/drawing_view.h"
#include "inspector/panes/pane.h"
#include "inspector/sensitivity/asked_curve.h"
#include "inspector/state/background.h"
#include "inspector/tables/table_view.h"

namespace stowage::inspector {

class SensitivityPane : public Pane {
  Q_OBJECT
 public:
  explicit SensitivityPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override;
  [[nodiscard]] bool busy() const override { return working() || calculating_.busy(); }
  /// The curve around the plan's own LDM.
  bool askFirst() override {
    calculate();
    return true;
  }

  [[nodiscard]] QComboBox& key() { return *key_; }
  [[nodiscard]] QLineEdit& from() { return *from_; }
  [[nodiscard]] QLineEdit& to() { return *to_; }
  /// Whether values are multiplied or added to, and by what.
  [[nodiscard]] QComboBox& by() { return *by_; }
  [[nodiscard]] QLineEdit& amount() { return *amount_; }
  [[nodiscard]] QPushButton& button() { return *calculate_; }
  [[nodiscard]] QPushButton& compareButton() { return *compare_; }
  [[nodiscard]] DrawingView& chart() { return *chart_; }
  [[nodiscard]] TableView& values() { return *values_; }
  [[nodiscard]] QString words() const { return words_->toPlainText(); }
  /// The newest curve of the plan; null before the first.
  [[nodiscard]] const std::shared_ptr<const Curve>& curve() const { return shown_.asked.curve; }
  /// The chosen point of the curve; -1: none.
  [[nodiscard]] std::optional<int> point() const { return chart_->item(); }
  void choosePoint(std::optional<int> point);
  /// Compiles the network for every value, on a worker thread.
  void calculate();
  /// Compiles it for the value of a point, on a worker thread, and makes that the baseline of what is open.
  void compare(std::optional<int> point);

 protected:
  void refresh(unsigned changes) override;

 private:
  /// What was asked of a plan, so that it is there again when the plan is.
  struct Asked {
    std::weak_ptr<const LoadedPlan> plan;
    std::string key;
    RangeText range;
    AskedCurve asked;
  };
  void makeBar();
  void makeLowerPart();
  void connectParts();
  void fitText();
  void showPlan();
  void showRange();
  void showCurve();
  void setRange(const RangeText& range);
  [[nodiscard]] RangeText range() const;
  [[nodiscard]] bool hasPlan(std::optional<int> point) const;
  void take(Asked asked);
  void keep(const Asked& asked);
  void start(Background::Work work);
  [[nodiscard]] Drawing picture(QSizeF room, bool titled) const;
  [[nodiscard]] Drawing wordsDrawing(double width) const;

  QComboBox* key_;
  QLineEdit* from_;
  QLineEdit* to_;
  QComboBox* by_;
  QLineEdit* amount_;
  QPushButton* calculate_;
  QProgressBar* bar_;
  DrawingView* chart_;
  QTabWidget* tabs_;
  QPlainTextEdit* words_;
  TableView* values_;
  QPushButton* compare_;
  Asked shown_;
  std::vector<Asked> kept_;  ///< newest last
  Background calculating_;   ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
