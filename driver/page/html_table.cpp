// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/page/page_parts.h"
#include "driver/report/table_text.h"
#include "report_page_text.h"

namespace stowage {

namespace {

/// What rows are sorted by.
std::string sort_value(const Cell& cell) {
  if (std::holds_alternative<std::int64_t>(cell)) return std::to_string(std::get<std::int64_t>(cell));
  if (std::holds_alternative<double>(cell)) return fmt::format("{:.6g}", std::get<double>(cell));
  return "0";
}

std::string html_rows(const PlanTable& table, const std::vector<std::string_view>& keys, std::string_view opening,
                      const std::function<std::string(std::size_t row)>& row_class) {
  const std::vector<std::size_t> columns = told_columns(table, keys);
  std::string html = fmt::format("<div class=\"scroll\">{}<thead><tr>", opening);
  for (const std::size_t c : columns) html += html_heading(table.columns[c]);
  html += "</tr></thead><tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const std::string style = row_class ? row_class(r) : "";
    html += style.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", style);
    for (const std::size_t c : columns) html += html_cell(table.rows[r].cells[c], table.columns[c]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string html_head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{} - Stowage</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n",
      escaped(title), report_page_text("style.css"));
}

std::string html_foot() {
  return fmt::format("<script>\n{}</script>\n</body>\n</html>\n", report_page_text("script.js"));
}

std::string html_heading(const Column& column) {
  const std::string tip = column.tip.empty() ? "" : fmt::format(" title=\"{}\"", escaped(column.tip));
  return fmt::format("<th{}{}>{}</th>", is_text(column.kind) ? "" : " class=\"number\"", tip, escaped(column.title));
}

std::string html_cell(const Cell& cell, const Column& column, CellForm form) {
  const std::string shown = escaped(shown_text(cell, column));
  if (is_text(column.kind)) return fmt::format("<td>{}</td>", shown);
  const auto* const whole = std::get_if<std::int64_t>(&cell);
  const std::string size = whole != nullptr && column.kind == ColumnKind::bytes ? bytes_text(*whole) : shown;
  if (form == CellForm::brief) {
    return std::holds_alternative<std::monostate>(cell)
               ? "<td></td>"
               : fmt::format("<td data-value=\"{}\">{}</td>", sort_value(cell), size);
  }
  return whole != nullptr ? number_cell(*whole, size)
                          : fmt::format("<td class=\"number\" data-value=\"{}\">{}</td>", sort_value(cell), shown);
}

std::string html_table(const PlanTable& table, const std::vector<std::string_view>& keys) {
  return html_rows(table, keys, "<table>", {});
}

std::string html_table(const PlanTable& table, const std::vector<std::string_view>& keys,
                       const std::function<std::string(std::size_t row)>& row_class) {
  return html_rows(table, keys, "<table class=\"sortable\">", row_class);
}

}  // namespace stowage
