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

TextColumns::TextColumns(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
  widths_.assign(headings_.size(), 3);
  fit(headings_);
}

void TextColumns::fit(const std::vector<std::string>& cells) {
  check(cells.size() == right_.size(), "a row has another number of cells than its table");
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], columns_of(cell_text(cells[i])));
}

std::string TextColumns::row(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    const std::string cell = cell_text(cells[i]);
    const std::string space(widths_[i] - columns_of(cell), ' ');
    text += right_[i] ? fmt::format("| {}{} ", space, cell) : fmt::format("| {}{} ", cell, space);
  }
  return text + "|\n";
}

std::string TextColumns::head() const {
  std::string text = row(headings_);
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    text += fmt::format("| {}{} ", std::string(widths_[i] - 1, '-'), right_[i] ? ':' : '-');
  }
  return text + "|\n";
}

void TextTable::add(std::vector<std::string> cells) {
  columns_.fit(cells);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::string text = columns_.head();
  for (const auto& row : rows_) text += columns_.row(row);
  return text;
}

}  // namespace stowage
