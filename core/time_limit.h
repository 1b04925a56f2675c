// SPDX-License-Identifier: Apache-2.0
// A stop that comes by itself. What is found until then depends on the machine's speed and load, and has to say so.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace stowage {

class TimeLimit {
 public:
  /// token() is stopped after `seconds`, or when `stop` is. The seconds begin now.
  TimeLimit(double seconds, const std::stop_token& stop);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  [[nodiscard]] std::stop_token token() const { return over_.get_token(); }

 private:
  std::stop_source over_;
  std::stop_callback<std::function<void()>> passed_on_;
  std::mutex waiting_;
  std::condition_variable_any ending_;
  std::jthread timer_;  ///< is stopped and joined first
};

}  // namespace stowage
