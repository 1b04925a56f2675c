// SPDX-License-Identifier: Apache-2.0
// Work beside the window's thread: one job at a time, the newest counts. Starting one stops the one before; what a
// stopped job still delivers is dropped. The destructor stops and joins.
#pragma once

#include <QObject>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "core/progress.h"

namespace stowage::inspector {

/// A plain std::jthread and a list under a mutex of its own, because the thread sanitizer sees into them and not into
/// Qt.
class Background : public QObject {
  Q_OBJECT
 public:
  /// Runs on the worker; returns what is to be done with its result on the window's thread.
  using Deliver = std::function<void()>;
  using Work = std::function<Deliver(std::stop_token, const ProgressSink&)>;

  explicit Background(QObject* parent = nullptr);
  ~Background() override;

  void start(Work work);
  void cancel();
  [[nodiscard]] bool busy() const { return busy_; }

 Q_SIGNALS:
  void busyChanged();
  /// At most 25 times a second.
  void progress(const QString& stage, int done, int total);
  /// The newest job ended by an exception, which is a fault of ours.
  void fault(const QString& message);

 private:
  /// From any thread: has it called on the window's.
  void handOver(std::function<void()> call);
  Q_SLOT void takeOver();
  void finished(std::uint64_t job, const Deliver& deliver);

  std::mutex mutex_;
  std::vector<std::function<void()>> handed_over_;  ///< under mutex_

  std::map<std::uint64_t, std::jthread> threads_;  ///< running ones, also those that were stopped
  std::uint64_t newest_ = 0;
  bool busy_ = false;
};

/// True on the thread of the window.
bool on_window_thread();
/// Where all work with files, sessions and layouts begins: an InternalError on the window's thread, which it would
/// block. `what` happened there: "a plan was loaded".
void off_window_thread(std::string_view what);

/// Runs work on a thread of its own and waits for it: for exports without a window, and for tests.
template <class Work>
auto beside(const Work& work) -> decltype(work()) {
  decltype(work()) result{};
  std::exception_ptr failure;
  std::jthread([&] {
    try {
      result = work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return result;
}

}  // namespace stowage::inspector
