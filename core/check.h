// SPDX-License-Identifier: Apache-2.0
// Faults of ours. A user's mistake is a Diagnostic; a broken promise inside Stowage is an InternalError,
// which the driver reports with its place and exit code 3. Always compiled in.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace stowage {

/// Where a check stands. In place of std::source_location, which clang 14 lacks.
struct CodeLocation {
  const char* file;
  int line;
  static constexpr CodeLocation here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

class InternalError : public std::logic_error {
 public:
  InternalError(std::string_view what, CodeLocation where);
};

[[noreturn]] void fail_check(std::string_view what, CodeLocation where = CodeLocation::here());

inline void check(bool condition, std::string_view what, CodeLocation where = CodeLocation::here()) {
  if (!condition) fail_check(what, where);
}

}  // namespace stowage
