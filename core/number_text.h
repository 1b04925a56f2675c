// SPDX-License-Identifier: Apache-2.0
// Numbers as a person reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stowage {

/// "1 234 567".
std::string grouped_digits(std::int64_t number);
/// "1 operator", "1 234 operators"; for nouns with a plural in s.
std::string counted(std::int64_t number, std::string_view noun);
inline std::string counted(std::size_t number, std::string_view noun) {
  return counted(static_cast<std::int64_t>(number), noun);
}
/// "58.0 KiB", "3.64 MiB".
std::string bytes_text(std::int64_t bytes);
/// "12.3 us", "4.56 ms".
std::string seconds_text(double seconds);

}  // namespace stowage
