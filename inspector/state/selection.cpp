// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/selection.h"

#include <utility>

#include "inspector/state/document.h"

namespace stowage::inspector {

Selection::Selection(const Document& document, QObject* parent) : QObject(parent), document_(document) {
  connect(&document, &Document::planChanged, this, &Selection::reset);
}

void Selection::select(const Subject& subject) {
  const PlanPtr plan = document_.plan();
  const Subject wanted = plan ? complete(*plan, subject) : Subject{};
  if (wanted == this->subject()) return;
  history_.resize(current_ + 1);
  history_.push_back(wanted);
  constexpr std::size_t longest = 500;
  if (history_.size() > longest) history_.erase(history_.begin());
  current_ = history_.size() - 1;
  Q_EMIT changed();
}

void Selection::hover(const Subject& subject) {
  const PlanPtr plan = document_.plan();
  const Subject wanted = plan ? complete(*plan, subject) : Subject{};
  if (wanted == hovered_) return;
  hovered_ = wanted;
  Q_EMIT hoverChanged();
}

void Selection::setTimeCursor(std::optional<TimeCursor> cursor) {
  if (!cursor && !time_cursor_) return;
  time_cursor_ = std::move(cursor);
  Q_EMIT timeCursorMoved();
}

void Selection::goBack() {
  if (!canGoBack()) return;
  --current_;
  Q_EMIT changed();
}

void Selection::goForward() {
  if (!canGoForward()) return;
  ++current_;
  Q_EMIT changed();
}

void Selection::goUp() {
  const PlanPtr plan = document_.plan();
  if (!plan) return;
  const std::vector<Subject> path = ancestors(*plan, subject());
  if (path.size() > 1) select(path[path.size() - 2]);
}

void Selection::reset() {
  const PlanPtr before = std::exchange(plan_, document_.plan());
  if (plan_ && before && plan_->compilation.model.hash == before->compilation.model.hash) {
    // The same network planned otherwise: one can go back to what was looked at.
    for (Subject& subject : history_) subject = place_in(*plan_, *before, subject);
  } else {
    history_ = {Subject{}};
    current_ = 0;
  }
  hovered_ = {};
  setTimeCursor(std::nullopt);
  Q_EMIT changed();
}

}  // namespace stowage::inspector
