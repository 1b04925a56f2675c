// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/nearest_fit.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "lowering/swtvm/planner_swtvm.h"

namespace stowage {

std::vector<NearestFit> nearest_that_fit(const StageList& stages, const Schedule& fixed, const Target& target) {
  const SwtvmPlanner planner;
  const auto fits = [&](const Schedule& schedule) {
    return std::holds_alternative<Schedule>(planner.complete("", stages, schedule, target, {}));
  };
  std::vector<NearestFit> found;
  for (const auto& [iterator, size] : fixed.buffer) {
    Schedule other = fixed;
    std::int64_t& smaller = other.buffer.at(iterator);
    // What fits gets no larger with the size; that the one found fits is asked once more.
    std::int64_t low = 0;
    for (std::int64_t high = size - 1; low < high;) {
      smaller = high - (high - low) / 2;
      if (fits(other)) {
        low = smaller;
      } else {
        high = smaller - 1;
      }
    }
    smaller = low;
    if (low > 0 && fits(other)) found.push_back({fmt::format("a buffer of at most {} of {}", low, iterator), other});
  }
  if (std::any_of(fixed.slots.begin(), fixed.slots.end(), [](const auto& entry) { return entry.second > 1; })) {
    Schedule other = fixed;
    for (auto& [tensor, slots] : other.slots) slots = 1;
    if (fits(other)) found.push_back({"one slot of each tensor", other});
  }
  for (const auto& [tensor, along] : fixed.resident) {
    Schedule other = fixed;
    other.resident.erase(tensor);
    if (!along.empty() && fits(other)) found.push_back({fmt::format("{} resident along nothing", tensor), other});
  }
  return found;
}

}  // namespace stowage
