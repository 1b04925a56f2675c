// SPDX-License-Identifier: Apache-2.0
#include "driver/text/text_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "core/quoting.h"

namespace stowage {

namespace {

/// Columns of a terminal that a text takes: its code points.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// On one line, and without a bar that would end the cell in Markdown.
std::string cell_text(const std::string& text) {
  std::string cell = line_text(text);
  for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, "\\");
  return cell;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
    heading = cell_text(heading);
  }
  rows_.push_back(std::move(headings));
}

void TextTable::add(std::vector<std::string> cells) {
  check(cells.size() == right_.size(), "a row has another number of cells than its table");
  for (std::string& cell : cells) cell = cell_text(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(right_.size(), 3);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = rows_[r][i];
      const std::string space(widths[i] - columns_of(cell), ' ');
      text += right_[i] ? fmt::format("| {}{} ", space, cell) : fmt::format("| {}{} ", cell, space);
    }
    text += "|\n";
    if (r > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += fmt::format("| {}{} ", std::string(widths[i] - 1, '-'), right_[i] ? ':' : '-');
    }
    text += "|\n";
  }
  return text;
}

}  // namespace stowage
