// SPDX-License-Identifier: Apache-2.0
// Tables that read well as plain text and are Markdown too.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/number_text.h"

namespace stowage {

/// The widths of a table's columns, and its lines by them, for tables that nobody holds.
class TextColumns {
 public:
  /// Headings; one that starts with '>' aligns its column to the right (numbers).
  explicit TextColumns(std::vector<std::string> headings);
  /// Makes room for a row.
  void fit(const std::vector<std::string>& cells);
  /// The headings and the line below them.
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string row(const std::vector<std::string>& cells) const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::size_t> widths_;
};

class TextTable {
 public:
  /// As those of TextColumns.
  explicit TextTable(std::vector<std::string> headings) : columns_(std::move(headings)) {}
  void add(std::vector<std::string> cells);
  [[nodiscard]] std::string text() const;

 private:
  TextColumns columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stowage
