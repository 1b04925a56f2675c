// SPDX-License-Identifier: Apache-2.0
#include "driver/report/details.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace stowage {

std::optional<std::size_t> parse_details(std::string_view text) {
  if (text == "all") return all_details;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

IdVector<StepId, bool> steps_in_full(const Program& program, std::size_t maximum) {
  const std::size_t count = program.steps.size();
  IdVector<StepId, bool> in_full(count, count <= maximum);
  if (count <= maximum) return in_full;
  const auto cycles = [&](StepId step) {
    const StepPlan* const planned = program.steps[step].step_plan();
    return planned != nullptr ? planned->cycles() : 0;
  };
  const auto ids = program.steps.ids();
  std::vector<StepId> by_time(ids.begin(), ids.end());
  std::stable_sort(by_time.begin(), by_time.end(), [&](StepId a, StepId b) { return cycles(a) > cycles(b); });
  for (std::size_t i = 0; i < maximum; ++i) in_full[by_time[i]] = true;
  return in_full;
}

std::string slowest_text(std::size_t count) {
  return count == 1 ? "one that takes the most time" : fmt::format("{} that take the most time", count);
}

}  // namespace stowage
