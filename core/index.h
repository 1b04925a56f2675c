// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

namespace stowage {

/// A number that is known not to be negative, as the standard library counts what a container holds.
template <std::integral Number>
constexpr std::size_t at(Number index) {
  return static_cast<std::size_t>(index);
}

}  // namespace stowage
