// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/pane.h"

#include <QCoreApplication>
#include <utility>

namespace stowage::inspector {

Pane::Pane(const PaneContext& context) : context_(context) {
  connect(&context_.document, &Document::planChanged, this, [this] { note(plan_changed | selection_changed); });
  connect(&context_.document, &Document::comparisonChanged, this, [this] { note(comparison_changed); });
  connect(&context_.selection, &Selection::changed, this, [this] { note(selection_changed); });
  connect(&context_.selection, &Selection::hoverChanged, this, [this] { note(hover_changed); });
  connect(&context_.selection, &Selection::timeCursorMoved, this, [this] { note(time_changed); });
  connect(&context_.look, &Look::changed, this, [this] { note(look_changed); });
}

std::optional<ExportWork> Pane::exportSpecial(const QString&, QSizeF) { return std::nullopt; }

void Pane::save(std::function<void()> then) { then(); }

const StepFacts* Pane::step() const { return plan_ ? plan_->step(subject().step) : nullptr; }

void Pane::note(unsigned change) {
  pending_ |= change;
  if (isVisible()) {
    askForTurn();
  } else if ((change & plan_changed) != 0) {
    plan_.reset();  // it may be large, and nobody may ever look here again
  }
}

void Pane::askForTurn() {
  context_.deferred->ask(this, [this] {
    if (isVisible()) flush();
  });
}

void Pane::flush() {
  context_.deferred->withdraw(this);
  plan_ = context_.document.plan();
  if (const unsigned changes = std::exchange(pending_, 0U)) refresh(changes);
}

void Pane::settle() {
  for (flush(); working(); flush()) {
    QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents | QEventLoop::WaitForMoreEvents);
  }
}

void Pane::takeKeyboard() {
  // What is disabled cannot have it; the pane still can, so that what concerns a pane concerns this one.
  QWidget& view = mainView();
  (view.isEnabled() ? view : *this).setFocus(Qt::OtherFocusReason);
}

void Pane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!arranging_) flush();
}

bool Pane::inSight() const {
  // Qt keeps tabs behind others visible, outside the window.
  return isVisible() && window()->rect().intersects({mapTo(window(), QPoint(0, 0)), size()});
}

void Pane::setArranging(bool arranging) {
  arranging_ = arranging;
  if (!arranging_) askForTurn();
}

}  // namespace stowage::inspector
