// SPDX-License-Identifier: Apache-2.0
// What a dock holds: a pane, which scrolls where it needs more room than there is. So the window fits a small screen,
// and large text.
#pragma once

#include <QScrollArea>

namespace stowage::inspector {

class PaneArea : public QScrollArea {
  Q_OBJECT
 public:
  PaneArea(QWidget* pane, QWidget* parent);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void fit();
};

}  // namespace stowage::inspector
