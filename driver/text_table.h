// SPDX-License-Identifier: Apache-2.0
// Tables that read well as plain text and are Markdown too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stowage {

class TextTable {
 public:
  /// Headings; one that starts with '>' aligns its column to the right (numbers).
  explicit TextTable(std::vector<std::string> headings);
  void add(std::vector<std::string> cells);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  ///< headings first
};

/// "1 234 567".
std::string grouped_digits(std::int64_t number);
/// "58.0 KiB", "3.64 MiB".
std::string bytes_text(std::int64_t bytes);
/// "12.3 us", "4.56 ms".
std::string seconds_text(double seconds);

}  // namespace stowage
