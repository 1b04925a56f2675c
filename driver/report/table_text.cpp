// SPDX-License-Identifier: Apache-2.0
#include "driver/report/table_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"

namespace stowage {

std::string shown_text(const Cell& cell, const Column& column) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    if (text->empty()) return column.absent;
    if (column.kind != ColumnKind::extents) return *text;
    std::string extents;
    for (const char c : *text) {
      if (c != ' ') extents += c == 'x' ? std::string(" x ") : std::string(1, c);
    }
    return extents;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return grouped_digits(*whole);
  if (const auto* fraction = std::get_if<double>(&cell)) {
    if (column.kind == ColumnKind::share) return fmt::format("{:.1f} %", 100 * *fraction);
    if (column.kind == ColumnKind::share_change) return fmt::format("{:+.1f} %", 100 * *fraction);
    if (column.kind == ColumnKind::rate) return fmt::format("{:.2f} GB/s", *fraction / 1e9);
    if (column.kind == ColumnKind::seconds) return seconds_text(*fraction);
    return fmt::format("{:.4g}", *fraction);
  }
  return {};
}

Cell sum_of(const PlanTable& table, std::size_t column) {
  if (!table.columns[column].summed) return {};
  std::int64_t whole = 0;
  double fractions = 0;
  bool has_fractions = false;
  for (const PlanRow& row : table.rows) {
    if (const auto* number = std::get_if<std::int64_t>(&row.cells[column])) whole += *number;
    if (const auto* fraction = std::get_if<double>(&row.cells[column])) {
      fractions += *fraction;
      has_fractions = true;
    }
  }
  if (has_fractions) return fractions;
  return whole;
}

std::vector<std::size_t> told_columns(const PlanTable& table, const std::vector<std::string_view>& keys) {
  std::vector<std::size_t> columns = columns_by_key(table.columns, keys);
  std::erase_if(columns, [&](std::size_t c) {
    return is_text(table.columns[c].kind) &&
           std::none_of(table.rows.begin(), table.rows.end(),
                        [&](const PlanRow& row) { return !shown_text(row.cells[c], table.columns[c]).empty(); });
  });
  return columns;
}

std::string csv_text(const PlanTable& table, const std::vector<std::string_view>& keys) {
  const std::vector<std::size_t> columns = columns_by_key(table.columns, keys);
  std::string text;
  const auto line = [&](const auto& cell) {
    for (std::size_t i = 0; i < columns.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(cell(columns[i]));
    text += "\r\n";
  };
  line([&](std::size_t column) { return table.columns[column].key; });
  for (const PlanRow& row : table.rows) {
    line([&](std::size_t column) { return plain_text(row.cells[column], table.columns[column].kind); });
  }
  return text;
}

TextTable report_table(const PlanTable& table, const std::vector<std::string_view>& keys, Sums sums) {
  const std::vector<std::size_t> columns = told_columns(table, keys);
  std::vector<std::string> headings;
  for (const std::size_t c : columns) {
    headings.push_back((is_text(table.columns[c].kind) ? "" : ">") + table.columns[c].title);
  }
  TextTable text(std::move(headings));
  for (const PlanRow& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::size_t c : columns) {
      const std::string shown = shown_text(row.cells[c], table.columns[c]);
      cells.push_back(is_text(table.columns[c].kind) ? markdown_text(shown) : shown);
    }
    text.add(std::move(cells));
  }
  if (sums == Sums::no) return text;
  std::vector<std::string> cells;
  bool is_named = false;
  for (const std::size_t c : columns) {
    const bool names = !is_named && is_text(table.columns[c].kind);
    cells.push_back(names ? "all" : shown_text(sum_of(table, c), table.columns[c]));
    is_named = is_named || names;
  }
  text.add(std::move(cells));
  return text;
}

}  // namespace stowage
