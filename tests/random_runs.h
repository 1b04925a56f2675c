// SPDX-License-Identifier: Apache-2.0
// What random tests take from the environment: STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace stowage::test {

inline std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

}  // namespace stowage::test
