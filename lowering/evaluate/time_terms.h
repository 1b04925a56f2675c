// SPDX-License-Identifier: Apache-2.0
// A plan's time by what it is spent on, as the closed form has it and as the simulation has it, in terms that both
// know, so that it shows where the closed form errs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lowering/nest/plan.h"
#include "lowering/simulate/simulate.h"

namespace stowage {

/// Both sides of each term; they sum up to the plan's cycles and to the simulated ones.
enum class TimeTermKind : std::uint8_t {
  launch,
  computation,  ///< and fills
  loads,        ///< not hidden, with their calls, and barriers, at which cores wait for what one loads for them
  stores        ///< not hidden, with their calls, and the end of the last ones
};
inline constexpr std::size_t time_terms = 4;
/// "launch", "computation", "loads", "stores".
std::string_view name_of(TimeTermKind kind);

struct TermCycles {
  std::int64_t closed_form = 0;
  std::int64_t simulated = 0;  ///< of the core that ends last
};

/// By TimeTermKind.
using TermTimes = std::array<TermCycles, time_terms>;

TermTimes term_times(const Plan& plan, const Simulation& simulation);

}  // namespace stowage
