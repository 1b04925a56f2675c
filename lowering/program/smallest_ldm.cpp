// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/smallest_ldm.h"

namespace stowage {

/// Doubles what is added until it is allowed, then halves the rest between refused and allowed.
std::optional<std::int64_t> smallest_ldm(const Target& target, const std::function<bool(const Target&)>& allowed) {
  constexpr std::int64_t max_times = 1024;
  const std::int64_t step = target.ldm.alignment;
  const auto with_steps = [&](std::int64_t steps) { return target.ldm.bytes + steps * step; };
  const auto holds = [&](std::int64_t steps) {
    Target changed = target;
    changed.ldm.bytes = with_steps(steps);
    return allowed(changed);
  };
  const std::int64_t maximum = max_times * target.ldm.bytes / step;
  std::int64_t refused = 0;
  std::int64_t enough = 1;
  while (enough < maximum && !holds(enough)) {
    refused = enough;
    enough *= 2;
  }
  if (enough >= maximum) return std::nullopt;
  while (enough - refused > 1) {
    const std::int64_t middle = refused + (enough - refused) / 2;
    (holds(middle) ? enough : refused) = middle;
  }
  return with_steps(enough);
}

}  // namespace stowage
