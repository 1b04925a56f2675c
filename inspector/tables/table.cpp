// SPDX-License-Identifier: Apache-2.0
#include "inspector/tables/table.h"

#include <fmt/format.h>

#include "core/quoting.h"
#include "driver/text/text_table.h"

namespace stowage::inspector {

namespace {

std::string tsv_cell(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

template <class Format>
std::string separated(const Table& table, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns,
                      char separator, Format cell) {
  std::string text;
  const auto line = [&](const auto& value) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += separator;
      text += cell(value(columns[i]));
    }
    text += '\n';
  };
  line([&](std::size_t column) { return table.columns[column].title; });
  for (const std::size_t row : rows) {
    line([&](std::size_t column) { return plain_text(table.rows[row].cells[column], table.columns[column].kind); });
  }
  return text;
}

}  // namespace

Row totals_row(const Table& table, const std::vector<std::size_t>& rows) {
  Row totals;
  totals.cells.resize(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].summed) continue;
    std::int64_t whole = 0;
    double fraction = 0;
    bool is_whole = false;
    for (const std::size_t r : rows) {
      const Cell& cell = table.rows[r].cells[c];
      if (const auto* number = std::get_if<std::int64_t>(&cell)) {
        whole += *number;
        is_whole = true;
      } else if (const auto* part = std::get_if<double>(&cell)) {
        fraction += *part;
      }
    }
    totals.cells[c] = is_whole ? Cell(whole) : Cell(fraction);
  }
  if (!totals.cells.empty()) {
    const char* word = table.rows.size() == 1 ? "row" : "rows";
    totals.cells[0] = rows.size() == table.rows.size()
                          ? fmt::format("{} {}", rows.size(), word)
                          : fmt::format("{} of {} {}", rows.size(), table.rows.size(), word);
  }
  return totals;
}

std::string to_csv(const Table& table, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns) {
  return separated(table, rows, columns, ',', csv_cell);
}

std::string to_tsv(const Table& table, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns) {
  return separated(table, rows, columns, '\t', tsv_cell);
}

std::string to_markdown(const Table& table, const std::vector<std::size_t>& rows,
                        const std::vector<std::size_t>& columns) {
  if (columns.empty()) return {};
  std::vector<std::string> headings;
  for (const std::size_t c : columns) {
    headings.push_back((is_text(table.columns[c].kind) ? "" : ">") + table.columns[c].title);
  }
  TextTable text(headings);
  for (const std::size_t r : rows) {
    std::vector<std::string> cells;
    for (const std::size_t c : columns) cells.push_back(plain_text(table.rows[r].cells[c], table.columns[c].kind));
    text.add(std::move(cells));
  }
  return text.text();
}

}  // namespace stowage::inspector
