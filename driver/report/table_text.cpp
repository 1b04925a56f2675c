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

std::string csv_heading(const std::vector<Column>& columns, const std::vector<std::size_t>& places) {
  std::string line;
  for (const std::size_t place : places) line += (line.empty() ? "" : ",") + csv_cell(columns[place].key);
  return line + "\r\n";
}

std::string csv_row(const PlanRow& row, const std::vector<Column>& columns, const std::vector<std::size_t>& places) {
  std::string line;
  for (std::size_t i = 0; i < places.size(); ++i) {
    line += (i > 0 ? "," : "") + csv_cell(plain_text(row.cells[places[i]], columns[places[i]].kind));
  }
  return line + "\r\n";
}

std::string csv_text(const PlanTable& table, const std::vector<std::string_view>& keys) {
  const std::vector<std::size_t> places = columns_by_key(table.columns, keys);
  std::string text = csv_heading(table.columns, places);
  for (const PlanRow& row : table.rows) text += csv_row(row, table.columns, places);
  return text;
}

std::string report_cell(const Cell& cell, const Column& column) {
  const std::string shown = shown_text(cell, column);
  return is_text(column.kind) ? markdown_text(shown) : shown;
}

std::string report_heading(const Column& column) { return (is_text(column.kind) ? "" : ">") + column.title; }

TextTable report_table(const PlanTable& table, const std::vector<std::string_view>& keys, Sums sums) {
  const std::vector<std::size_t> columns = told_columns(table, keys);
  std::vector<std::string> headings;
  for (const std::size_t c : columns) {
    headings.push_back(report_heading(table.columns[c]));
  }
  TextTable text(std::move(headings));
  for (const PlanRow& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::size_t c : columns) {
      cells.push_back(report_cell(row.cells[c], table.columns[c]));
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
