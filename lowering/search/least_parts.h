// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "lowering/time/cycle_limit.h"

namespace stowage {

/// Cycles that pass at least, by what passes them.
struct LeastParts {
  double blocking = 0;  ///< launch and transfers that block
  double hideable = 0;  ///< transfers that may run beside the computation, what they move
  double starting = 0;  ///< their start-up, which may pass beside what others of them move
  double computed = 0;
  [[nodiscard]] std::int64_t one_after_the_other() const { return whole(blocking + hideable + starting + computed); }
  [[nodiscard]] std::int64_t overlapped() const { return whole(blocking + std::max(hideable, computed)); }

 private:
  static std::int64_t whole(double cycles) { return static_cast<std::int64_t>(std::min(cycles, double{cycle_limit})); }
};

}  // namespace stowage
