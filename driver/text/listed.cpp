// SPDX-License-Identifier: Apache-2.0
#include "driver/text/listed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "nothing" : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace stowage
