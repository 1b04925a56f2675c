// SPDX-License-Identifier: Apache-2.0
// When two values that lie around a tensor are the same.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace stowage {

/// Whether no reader can tell the one from the other: the same bits (0 and -0 are not), or both NaN (which no `==`
/// says).
inline bool same_padding(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return (std::isnan(*a) && std::isnan(*b)) || std::bit_cast<std::uint64_t>(*a) == std::bit_cast<std::uint64_t>(*b);
}

}  // namespace stowage
