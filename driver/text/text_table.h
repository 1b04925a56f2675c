// SPDX-License-Identifier: Apache-2.0
// Tables that read well as plain text and are Markdown too.
#pragma once

#include <string>
#include <vector>

#include "core/number_text.h"

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

}  // namespace stowage
