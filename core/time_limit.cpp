// SPDX-License-Identifier: Apache-2.0
#include "core/time_limit.h"

#include <algorithm>
#include <chrono>

namespace stowage {

TimeLimit::TimeLimit(double seconds, const std::stop_token& stop) : passed_on_(stop, [this] { over_.request_stop(); }) {
  using Clock = std::chrono::steady_clock;
  constexpr double longest = 1e9;  // beyond that the clock's own numbers end
  const auto time = std::chrono::duration<double>(std::clamp(seconds, 0.0, longest));
  const Clock::time_point end = Clock::now() + std::chrono::round<Clock::duration>(time);
  timer_ = std::jthread([this, end](const std::stop_token& is_done) {
    std::unique_lock lock(waiting_);
    ending_.wait_until(lock, is_done, end, [&] { return is_done.stop_requested(); });
    if (!is_done.stop_requested()) over_.request_stop();
  });
}

}  // namespace stowage
