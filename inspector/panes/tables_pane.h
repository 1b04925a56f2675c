// SPDX-License-Identifier: Apache-2.0
// Groups, operators, buffers and DMA operations, each as a table.
#pragma once

#include <QCheckBox>
#include <QStackedWidget>
#include <QTabBar>
#include <set>

#include "inspector/panes/pane.h"
#include "inspector/state/background.h"
#include "inspector/tables/filter_line.h"
#include "inspector/tables/table_view.h"

namespace stowage::inspector {

class TablesPane : public Pane {
  Q_OBJECT
 public:
  explicit TablesPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return current().view(); }
  QLineEdit* searchLine() override { return filter_; }

  [[nodiscard]] int count() const { return static_cast<int>(views_.size()); }
  [[nodiscard]] TableView& table(int index);
  /// Saves what is shown of the current table; message() says what became of it.
  void saveCsv(const QString& path);
  void setCurrent(int index) { tabs_->setCurrentIndex(index); }

 protected:
  void refresh(unsigned changes) override;

 private:
  void askAndSave();
  void follow(TableView& view, bool groups);
  [[nodiscard]] TableView& current() { return table(tabs_->currentIndex()); }

  QTabBar* tabs_;
  QStackedWidget* stack_;
  FilterLine* filter_;
  QCheckBox* only_chosen_;
  std::vector<TableView*> views_;
  std::set<int> outdated_;  ///< tables that are made when somebody looks at them
  ComparisonPtr compared_;  ///< what the tables show changes of
  Background writing_;      ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
