// SPDX-License-Identifier: Apache-2.0
// What a planner has proved of a plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace stowage {

/// No schedule of the space that was searched (docs/optimal.md) takes fewer than so many cycles in the model.
struct Certificate {
  enum class Ended : std::uint8_t {
    proved,     ///< none is left that could take less
    schedules,  ///< after as many schedules as the search may look at
    time        ///< when its time was over
  };
  std::int64_t cycles = 0;        ///< of the plan
  std::int64_t least_cycles = 0;  ///< at most `cycles`
  std::int64_t planned = 0;       ///< schedules that were planned to the end
  std::int64_t bounded = 0;       ///< sets of schedules whose bound was computed
  Ended ended = Ended::proved;

  [[nodiscard]] bool is_proved() const { return least_cycles >= cycles; }
  /// By so much of its cycles the plan may be above the optimum; 0: it is none.
  [[nodiscard]] double gap() const {
    return cycles <= 0 ? 0 : static_cast<double>(cycles - least_cycles) / static_cast<double>(cycles);
  }

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// Of the better of two plans of one group, searched in two forms: what is below both bounds is in neither space.
inline Certificate together(const Certificate& a, const Certificate& b) {
  Certificate both = a.cycles <= b.cycles ? a : b;
  both.least_cycles = std::min({a.least_cycles, b.least_cycles, both.cycles});
  both.planned = a.planned + b.planned;
  both.bounded = a.bounded + b.bounded;
  both.ended = both.is_proved() ? Certificate::Ended::proved : std::max(a.ended, b.ended);
  return both;
}

/// Of two, one of which may have found no plan, or prove nothing.
inline std::optional<Certificate> together(const std::optional<Certificate>& a, const std::optional<Certificate>& b) {
  return a && b ? together(*a, *b) : a ? a : b;
}

}  // namespace stowage
