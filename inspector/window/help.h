// SPDX-License-Identifier: Apache-2.0
// The help page (F1): panes, keys and terms, in the program and without network.
#pragma once

#include <QDialog>
#include <QString>
#include <QTextBrowser>

#include "inspector/look/look.h"

namespace stowage::inspector {

/// One page; every pane has an anchor of its name, keys are under "keys", terms under "terms".
QString help_html(const Look& look);

class HelpWindow : public QDialog {
  Q_OBJECT
 public:
  explicit HelpWindow(const Look& look, QWidget* parent = nullptr);
  /// Shows the page at an anchor; an empty one is its beginning.
  void showAt(const QString& anchor);
  [[nodiscard]] QTextBrowser& page() { return *page_; }

 private:
  const Look& look_;
  QTextBrowser* page_;
};

}  // namespace stowage::inspector
