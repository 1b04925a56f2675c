// SPDX-License-Identifier: Apache-2.0
// How far computed values are from those that were expected.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor.h"

namespace stowage::test {

/// Largest difference, relative to the largest finite magnitude of `expected`; infinite where one is not finite and the
/// other is anything else.
inline double relative_error(const Tensor& expected, const Tensor& actual) {
  double scale = 1e-30;
  double worst = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double e = expected.as_double(i);
    const double a = actual.as_double(i);
    if (std::isfinite(e)) scale = std::max(scale, std::abs(e));
    if (e == a || (std::isnan(e) && std::isnan(a))) continue;
    if (!std::isfinite(e) || !std::isfinite(a)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(e - a));
  }
  return worst / scale;
}

}  // namespace stowage::test
