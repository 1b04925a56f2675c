// SPDX-License-Identifier: Apache-2.0
#include "driver/report/details.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

namespace stowage {

std::optional<std::size_t> parse_details(std::string_view text) {
  if (text == "all") return all_details;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

std::vector<bool> steps_in_full(const Program& program, std::size_t maximum) {
  const std::size_t count = program.steps.size();
  std::vector<bool> in_full(count, count <= maximum);
  if (count <= maximum) return in_full;
  const auto cycles = [&](std::size_t step) {
    const KernelPlan* const launched = program.steps[step].launched();
    return launched != nullptr ? launched->cycles() : 0;
  };
  std::vector<std::size_t> by_time(count);
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) { return cycles(a) > cycles(b); });
  for (std::size_t i = 0; i < maximum; ++i) in_full[by_time[i]] = true;
  return in_full;
}

std::string slowest_text(std::size_t count) {
  return count == 1 ? "one that takes the most time" : fmt::format("{} that take the most time", count);
}

}  // namespace stowage
