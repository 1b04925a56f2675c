// SPDX-License-Identifier: Apache-2.0
// The same work on many things at once, on the host's cores.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

namespace stowage {

/// Calls work() on `threads` threads at once, of which the caller's is one, and returns when all calls have returned.
/// Where no more threads can be started, for want of memory or by a limit, it is called on fewer. It may throw nothing.
void run_on_threads(std::size_t threads, const std::function<void()>& work);

/// Calls work(i) once for every i < count, on `threads` threads (0: one a core; never more than there is work). Calls
/// must not depend on each other. Returns when all are done; an exception stops those that have not begun and comes
/// out, of several the one of the lowest i. When stopped, those that have not begun are left out.
void parallel_for(std::size_t count, unsigned threads, const std::stop_token& stop,
                  const std::function<void(std::size_t)>& work);

/// Calls work(first, end) for ranges that make up 0 … count - 1, on all of the host's cores where the items, of
/// `item_bytes` bytes each, are worth starting threads for; else once, for all. As parallel_for() does.
void parallel_ranges(std::size_t count, std::size_t item_bytes,
                     const std::function<void(std::size_t first, std::size_t end)>& work);

}  // namespace stowage
