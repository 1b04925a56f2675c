// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/background.h"

#include <QCoreApplication>
#include <QThread>
#include <chrono>
#include <memory>

#include "core/check.h"

namespace stowage::inspector {

bool on_window_thread() {
  const QCoreApplication* application = QCoreApplication::instance();
  return application != nullptr && QThread::currentThread() == application->thread();
}

void off_window_thread(std::string_view what) {
  check(!on_window_thread(), std::string(what) + " on the window's thread");
}

Background::Background(QObject* parent) : QObject(parent) {}

Background::~Background() {
  for (auto& [job, thread] : threads_) thread.request_stop();
  threads_.clear();  // joins
}

void Background::start(Work work) {
  if (const auto before = threads_.find(newest_); before != threads_.end()) before->second.request_stop();
  const std::uint64_t job = ++newest_;
  // This object outlives the thread, and calls that are queued for it vanish with it.
  threads_[job] = std::jthread([this, job, work = std::move(work)](std::stop_token stop) {
    auto last = std::make_shared<std::chrono::steady_clock::time_point>();
    const ProgressSink sink = [this, job, last](const std::string& stage, std::size_t done, std::size_t total) {
      const auto now = std::chrono::steady_clock::now();
      if (done != total && now - *last < std::chrono::milliseconds(40)) return;
      *last = now;
      handOver([this, job, stage, done, total] {
        if (job == newest_ && busy_) {
          Q_EMIT progress(QString::fromStdString(stage), static_cast<int>(done), static_cast<int>(total));
        }
      });
    };
    Deliver deliver;
    try {
      deliver = work(stop, sink);
    } catch (const std::exception& failure) {
      deliver = [this, message = QString::fromUtf8(failure.what())] { Q_EMIT fault(message); };
    }
    handOver([this, job, deliver = std::move(deliver)] { finished(job, deliver); });
  });
  if (!busy_) {
    busy_ = true;
    Q_EMIT busyChanged();
  }
}

void Background::handOver(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    handed_over_.push_back(std::move(call));
  }
  QMetaObject::invokeMethod(this, "takeOver", Qt::QueuedConnection);
}

void Background::takeOver() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(handed_over_);
  }
  for (const auto& call : calls) call();
}

void Background::cancel() {
  if (!busy_) return;
  if (const auto running = threads_.find(newest_); running != threads_.end()) running->second.request_stop();
  ++newest_;  // whatever the running one still says is stale
  busy_ = false;
  Q_EMIT busyChanged();
}

void Background::finished(std::uint64_t job, const Deliver& deliver) {
  threads_.erase(job);  // joins a thread that is at its end
  if (job != newest_ || !busy_) return;
  busy_ = false;
  if (deliver) deliver();
  if (!busy_) Q_EMIT busyChanged();
}

}  // namespace stowage::inspector
