// SPDX-License-Identifier: Apache-2.0
#include "core/identifiers.h"

#include <fmt/format.h>

namespace stowage {

std::string identifier_of(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string name;
  for (const char c : text) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
    name += allowed ? c : '_';
  }
  if (name.empty()) return "t";
  return is_digit(name.front()) ? "t_" + name : name;
}

std::string UniqueNames::take(const std::string& wanted) {
  if (taken_.insert(wanted).second) return wanted;
  int& number = next_.try_emplace(wanted, 2).first->second;
  std::string name;
  do {
    name = fmt::format("{}_{}", wanted, number++);
  } while (!taken_.insert(name).second);
  return name;
}

}  // namespace stowage
