// SPDX-License-Identifier: Apache-2.0
// Groups, operators, buffers and DMA operations, each as a table.
#pragma once

#include <QCheckBox>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTabBar>

#include "inspector/panes/pane.h"
#include "inspector/tables/table_view.h"

namespace stowage::inspector {

class TablesPane : public Pane {
  Q_OBJECT
 public:
  explicit TablesPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;

  [[nodiscard]] int count() const { return static_cast<int>(views_.size()); }
  [[nodiscard]] TableView& table(int index) { return *views_[static_cast<std::size_t>(index)]; }
  void setCurrent(int index) { tabs_->setCurrentIndex(index); }

 protected:
  void refresh(unsigned changes) override;

 private:
  void saveCsv();
  [[nodiscard]] TableView& current() { return table(tabs_->currentIndex()); }

  QTabBar* tabs_;
  QStackedWidget* stack_;
  QLineEdit* filter_;
  QCheckBox* only_chosen_;
  std::vector<TableView*> views_;
};

}  // namespace stowage::inspector
