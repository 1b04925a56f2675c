// SPDX-License-Identifier: Apache-2.0
// Numbers as a person reads them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace stowage {

/// "1 234 567".
std::string grouped_digits(std::int64_t number);
/// "1 operator", "1 234 operators"; for nouns with a plural in s.
std::string counted(std::int64_t number, std::string_view noun);
template <std::integral Number>
std::string counted(Number number, std::string_view noun) {
  return counted(static_cast<std::int64_t>(number), noun);
}
/// The form of a verb that goes with a number: for_number(n, "is", "are").
template <std::integral Number>
std::string_view for_number(Number number, std::string_view one, std::string_view several) {
  return number == 1 ? one : several;
}
/// "58.0 KiB", "3.64 MiB".
std::string bytes_text(std::int64_t bytes);
/// "63.96 KiB", "96 bytes": of LDM, where some bytes decide.
std::string ldm_bytes_text(std::int64_t bytes);
/// "12.3 us", "4.56 ms".
std::string seconds_text(double seconds);

}  // namespace stowage
