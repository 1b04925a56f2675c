// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/knees.h"

#include <cmath>

namespace stowage {

std::vector<std::size_t> knees_of(const std::vector<double>& amounts) {
  constexpr double least_change = 0.01;
  const auto change_to = [&](std::size_t i) { return amounts[i - 1] > 0 ? amounts[i] / amounts[i - 1] - 1 : 0; };
  std::vector<std::size_t> knees;
  for (std::size_t i = 1; i + 1 < amounts.size(); ++i) {
    const double in = change_to(i);
    if (std::abs(in) < least_change) continue;
    const double out = change_to(i + 1);
    if (std::abs(out) <= std::abs(in) / 2 || in * out < 0) knees.push_back(i);
  }
  return knees;
}

}  // namespace stowage
