// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace stowage {

void run_on_threads(std::size_t threads, const std::function<void()>& work) {
  std::vector<std::jthread> helpers;
  try {
    for (std::size_t t = 1; t < threads; ++t) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // those that run do the others' share
  }
  work();
}

void parallel_for(std::size_t count, unsigned threads, const std::stop_token& stop,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // guarded by mutex, as is failed_at
  std::size_t failed_at = count;
  const auto run = [&] {
    while (!stop.stop_requested()) {
      const std::size_t i = next.fetch_add(1);
      if (i >= count) return;
      try {
        work(i);
      } catch (...) {
        next.store(count);
        const std::lock_guard lock(mutex);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
      }
    }
  };
  const std::size_t wanted = threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  run_on_threads(std::min(wanted, count), run);
  if (failure) std::rethrow_exception(failure);
}

void parallel_ranges(std::size_t count, std::size_t item_bytes,
                     const std::function<void(std::size_t first, std::size_t end)>& work) {
  constexpr std::size_t range_bytes = std::size_t{1} << 19;  // some 100 us of copying; a thread starts in less
  const std::size_t step = std::max<std::size_t>(1, range_bytes / std::max<std::size_t>(1, item_bytes));
  const std::size_t ranges = count / step + (count % step != 0 ? 1 : 0);
  parallel_for(ranges, 0, {}, [&](std::size_t i) { work(i * step, std::min(count, (i + 1) * step)); });
}

}  // namespace stowage
