// SPDX-License-Identifier: Apache-2.0
#include "core/temporary_name.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include <fmt/format.h>

namespace stowage {

namespace {

constexpr std::string_view infix = ".stowage-";
constexpr std::size_t random_digits = 16;

}  // namespace

bool is_hexadecimal(std::string_view text, std::size_t digits) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == digits && std::all_of(text.begin(), text.end(), is_digit);
}

std::string_view cut_name(std::string_view name) {
  constexpr std::size_t kept = 200;
  return name.substr(0, kept);
}

std::string temporary_name(std::string_view name) {
  std::random_device random;
  return fmt::format(".{}{}{:08x}{:08x}", cut_name(name), infix, static_cast<std::uint32_t>(random()),
                     static_cast<std::uint32_t>(random()));
}

std::string_view name_behind_temporary(std::string_view name) {
  if (!name.starts_with('.')) return {};
  name.remove_prefix(1);
  if (name.ends_with(stepped_aside)) name.remove_suffix(stepped_aside.size());
  if (name.size() < infix.size() + random_digits) return {};
  const std::size_t end = name.size() - infix.size() - random_digits;
  if (name.substr(end, infix.size()) != infix) return {};
  return is_hexadecimal(name.substr(end + infix.size()), random_digits) ? name.substr(0, end) : std::string_view();
}

}  // namespace stowage
