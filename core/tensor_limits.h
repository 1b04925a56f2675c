// SPDX-License-Identifier: Apache-2.0
// The largest tensor that there is a plan for. What is larger is refused where it is read, so that all arithmetic on
// sizes, bytes and operations stays far from overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/tensor.h"

namespace stowage {

inline constexpr std::int64_t max_elements = std::int64_t{1} << 30;  ///< 4 GiB of f32, half of a core group's memory
inline constexpr std::string_view max_elements_text = "1 073 741 824";
inline constexpr std::string_view too_large_remedy =
    "split the tensor along a dimension, or compile with a smaller --dim or batch";

/// Number of elements, or nothing where it is more than the limit.
inline std::optional<std::int64_t> count_within_limit(std::span<const std::int64_t> shape) {
  const auto count = checked_element_count(shape);
  return count && *count <= max_elements ? count : std::nullopt;
}

}  // namespace stowage
