// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/selection.h"

#include "inspector/state/document.h"

namespace stowage::inspector {

Selection::Selection(const Document& document, QObject* parent) : QObject(parent), document_(document) {
  connect(&document, &Document::planChanged, this, &Selection::reset);
}

void Selection::select(const Place& place) {
  const PlanPtr plan = document_.plan();
  const Place wanted = plan ? complete(*plan, place) : Place{};
  if (wanted == this->place()) return;
  history_.resize(current_ + 1);
  history_.push_back(wanted);
  constexpr std::size_t longest = 500;
  if (history_.size() > longest) history_.erase(history_.begin());
  current_ = history_.size() - 1;
  Q_EMIT changed();
}

void Selection::hover(const Place& place) {
  const PlanPtr plan = document_.plan();
  const Place wanted = plan ? complete(*plan, place) : Place{};
  if (wanted == hovered_) return;
  hovered_ = wanted;
  Q_EMIT hoverChanged();
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
  const std::vector<Place> path = ancestors(*plan, place());
  if (path.size() > 1) select(path[path.size() - 2]);
}

void Selection::reset() {
  const PlanPtr plan = document_.plan();
  const PlanPtr baseline = document_.baseline();
  const bool edited = plan && baseline && plan->compilation.model.hash == baseline->compilation.model.hash;
  if (edited) {
    // The same network planned otherwise: one can go back to what was looked at.
    for (Place& place : history_) place = complete(*plan, place);
  } else {
    // A plan of the same shape keeps what is chosen; its history is another's.
    history_ = {plan ? complete(*plan, place()) : Place{}};
    current_ = 0;
  }
  hovered_ = {};
  Q_EMIT changed();
}

}  // namespace stowage::inspector
