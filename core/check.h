// SPDX-License-Identifier: Apache-2.0
// Faults of ours. A user's mistake is a Diagnostic; a broken promise inside Stowage is an InternalError,
// which the driver reports with its place and exit code 3. Always compiled in.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stowage {

class InternalError : public std::logic_error {
 public:
  InternalError(std::string_view what, std::source_location where);
};

[[noreturn]] void fail_check(std::string_view what, std::source_location where = std::source_location::current());

inline void check(bool condition, std::string_view what,
                  std::source_location where = std::source_location::current()) {
  if (!condition) fail_check(what, where);
}

}  // namespace stowage
