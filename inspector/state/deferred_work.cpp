// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/deferred_work.h"

#include <algorithm>

namespace stowage::inspector {

DeferredWork::DeferredWork(QObject* parent) : QObject(parent) {
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, &DeferredWork::next);
}

void DeferredWork::ask(QObject* who, std::function<void()> work) {
  const auto same = [who](const auto& waiting) { return waiting.first == who; };
  if (std::none_of(waiting_.begin(), waiting_.end(), same)) waiting_.emplace_back(who, std::move(work));
  if (!timer_.isActive()) timer_.start(0);
}

void DeferredWork::withdraw(const QObject* who) {
  std::erase_if(waiting_, [who](const auto& waiting) { return waiting.first == who; });
}

void DeferredWork::next() {
  while (!waiting_.empty() && waiting_.front().first.isNull()) waiting_.pop_front();
  if (waiting_.empty()) return;
  const auto work = std::move(waiting_.front().second);
  waiting_.pop_front();
  if (!waiting_.empty()) timer_.start(0);
  work();
}

}  // namespace stowage::inspector
