// SPDX-License-Identifier: Apache-2.0
// How the chosen group's plan came about, step by step: forward, back, play, jump to a decision.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <memory>

#include "inspector/draw/drawing_view.h"
#include "inspector/panes/pane.h"
#include "inspector/replay/replay.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

class ReplayPane : public Pane {
  Q_OBJECT
 public:
  explicit ReplayPane(const PaneContext& context);
  [[nodiscard]] QSizeF exportSize(QSizeF room) override;
  void draw(QPainter& painter, QSizeF size) override;
  [[nodiscard]] QWidget& mainView() override { return *this; }
  /// ".html": a page for a lecture; a folder: a picture of every step.
  std::optional<ExportWork> exportSpecial(const QString& path, QSizeF room) override;
  [[nodiscard]] QString specialFormats() const override;

  [[nodiscard]] const Replay& replay() const { return *replay_; }
  [[nodiscard]] std::size_t current() const { return current_; }
  [[nodiscard]] bool playing() const { return clock_.isActive(); }
  [[nodiscard]] DrawingView& view() { return *view_; }
  [[nodiscard]] QComboBox& decisions() { return *decisions_; }
  [[nodiscard]] QSlider& slider() { return *slider_; }
  /// Steps are being computed beside the window's thread.
  [[nodiscard]] bool working() const override { return Pane::working() || work_.busy(); }

  void goTo(std::size_t step);
  /// The next (+1) or previous (-1) step that accepts or refuses something.
  void goToDecision(int way);
  void setPlaying(bool playing);

 protected:
  void refresh(unsigned changes) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void load();
  void replace(Replay replay);
  [[nodiscard]] std::size_t exportedStep() const;

  std::shared_ptr<const Replay> replay_ = std::make_shared<Replay>();
  std::size_t current_ = 0;
  std::optional<StepId> shown_step_;
  DrawingView* view_;
  QSlider* slider_;
  QLabel* where_;
  QPushButton* play_;
  QComboBox* decisions_;
  QTimer clock_;
  Background work_;
};

}  // namespace stowage::inspector
