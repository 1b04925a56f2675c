// SPDX-License-Identifier: Apache-2.0
// Numbers as a person reads them.
#pragma once

#include <cstdint>
#include <string>

namespace stowage {

/// "1 234 567".
std::string grouped_digits(std::int64_t number);
/// "58.0 KiB", "3.64 MiB".
std::string bytes_text(std::int64_t bytes);
/// "12.3 us", "4.56 ms".
std::string seconds_text(double seconds);

}  // namespace stowage
