// SPDX-License-Identifier: Apache-2.0
// Plans that take longer than any kernel does are refused: sums over a network must stay in range.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace stowage {

/// Cycles of one kernel from which on its plan is refused, by the rule below: four hours at 1 GHz.
inline constexpr std::int64_t cycle_limit = std::int64_t{1} << 44;
inline constexpr std::string_view cycle_limit_rule = "too-many-cycles";

/// Nobody counts more: as many as refuse the plan.
inline std::int64_t cycles_that_count(double cycles) {
  return cycles >= static_cast<double>(cycle_limit) ? cycle_limit : static_cast<std::int64_t>(std::ceil(cycles));
}

}  // namespace stowage
