// SPDX-License-Identifier: Apache-2.0
// What if: a copy of the plan to be changed. Every edit lowers and evaluates the chosen group again; the network is
// planned anew on demand.
#pragma once

#include <QProgressBar>
#include <QSplitter>
#include <QTabWidget>
#include <QToolButton>

#include "inspector/code/code_view.h"
#include "inspector/draw/drawing_view.h"
#include "inspector/panes/pane.h"
#include "inspector/whatif/controls.h"
#include "inspector/whatif/session.h"

namespace stowage::inspector {

class WhatIfPane : public Pane {
  Q_OBJECT
 public:
  explicit WhatIfPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return controls_->nest(); }
  [[nodiscard]] bool working() const override { return Pane::working() || session_.pending(); }
  [[nodiscard]] bool busy() const override { return working() || session_.pricing() || session_.planning(); }

  [[nodiscard]] WhatIfSession& session() { return session_; }
  [[nodiscard]] WhatIfControls& controls() { return *controls_; }
  [[nodiscard]] DrawingView& result() { return *result_; }
  [[nodiscard]] QLabel& status() { return *status_; }
  /// Writes a --schedule file, or a batch file where `batch`, whole or not at all; message() says what became of it.
  void saveToml(const QString& path, bool batch);
  [[nodiscard]] QString unsaved() const override;
  void save(std::function<void()> then) override;
  void copyToml(bool batch);

 protected:
  void refresh(unsigned changes) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeBar(class QHBoxLayout* bar);
  void makeTomlMenu(QToolButton* button);
  void makeSnapshotMenu(QToolButton* button);
  /// `then`: once it is saved.
  void askAndSave(bool batch, const WhatIfSession::Unsaved& what, std::function<void()> then = {});
  void write(const QString& path, bool batch, const WhatIfSession::Unsaved& what, std::function<void()> then);
  void showState();
  void reserveStatus();
  void showResult();
  /// Makes the text beside the window's thread; `then` goes on there and returns what is left for the window's.
  void withToml(bool batch, const QString& file, const WhatIfSession::Unsaved& what,
                std::function<Background::Deliver(const std::string&)> then);
  [[nodiscard]] WhatIfSession::Unsaved edits() const { return {session_.base(), session_.edit()}; }
  void showEdits();
  void goTo(const QString& op);
  [[nodiscard]] struct ResultInput input() const;

  WhatIfSession session_;
  QLabel* status_;
  QLabel* edits_;  ///< of all groups
  QToolButton* plan_network_;
  QToolButton* cancel_;
  QProgressBar* progress_;
  QSplitter* split_;
  WhatIfControls* controls_;
  QTabWidget* tabs_;
  DrawingView* result_;
  DrawingView* ldm_;
  CodeView* nest_;
  Background writing_;  ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
