// SPDX-License-Identifier: Apache-2.0
// A nest to be rearranged: loops are dragged to another order, transfers to another loop. With the keyboard, Ctrl+Up
// and Ctrl+Down move the row that is current.
#pragma once

#include <QListWidget>

#include "inspector/look/look.h"
#include "inspector/whatif/edit.h"

namespace stowage::inspector {

class NestList : public QListWidget {
  Q_OBJECT
 public:
  explicit NestList(const Look& look, QWidget* parent = nullptr);
  /// Transfers that are fixed are ticked.
  void setNest(const GroupControls& controls, const Schedule& fixed);
  /// Rows that cannot be moved are grey until the next nest; the list keeps the keyboard.
  void freeze();

 Q_SIGNALS:
  void moved(std::size_t from, std::size_t to);  ///< to before row `to`
  void stepped(std::size_t row, int direction);
  void tickChanged(const std::string& tensor, bool fixed);

 protected:
  void dropEvent(QDropEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 private:
  const Look& look_;
  std::vector<ScheduleRow> rows_;
  int max_rows_ = 0;  ///< that edits of this group can lead to
};

}  // namespace stowage::inspector
