// SPDX-License-Identifier: Apache-2.0
#include "inspector/draw/shared_out.h"

#include <numeric>

namespace stowage::inspector {

std::vector<double> shared_out(double width, const std::vector<double>& weights, const std::vector<double>& least) {
  std::vector<double> parts(weights.size(), 0);
  for (bool again = true; again;) {
    again = false;
    double free = width;
    double weight = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool fixed = parts[i] > 0;
      free -= fixed ? parts[i] : 0;
      weight += fixed ? 0 : weights[i];
    }
    constexpr double least_unit = 3;
    if (weight > 0 && free / weight < least_unit) break;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] > 0 || least[i] <= free / weight * weights[i]) continue;
      parts[i] = least[i];
      again = true;
    }
    if (again) continue;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] <= 0) parts[i] = free / weight * weights[i];
    }
    return parts;
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = width * weights[i] / all;
  return parts;
}

}  // namespace stowage::inspector
