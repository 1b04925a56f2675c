// SPDX-License-Identifier: Apache-2.0
// Work on the window's thread, one piece a turn of its event loop: whoever types or drags waits for one piece, not for
// all of them, and the window is painted in between.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <deque>
#include <functional>
#include <utility>

namespace stowage::inspector {

class DeferredWork : public QObject {
  Q_OBJECT
 public:
  explicit DeferredWork(QObject* parent = nullptr);

  /// Has `work` done in a turn of its own, in the order of asking. Who waits for a turn already keeps that one.
  void ask(QObject* who, std::function<void()> work);
  /// Whoever is destroyed need not say so.
  void withdraw(const QObject* who);

 private:
  void next();

  std::deque<std::pair<QPointer<QObject>, std::function<void()>>> waiting_;
  QTimer timer_;
};

}  // namespace stowage::inspector
