// SPDX-License-Identifier: Apache-2.0
// Tables of a plan as a person reads them in a report: some of their columns, chosen by key.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "driver/report/table.h"
#include "driver/text/text_table.h"

namespace stowage {

/// Counts, bytes and cycles with grouped digits, shares in per cent, extents as "1 x 64"; a text without escapes.
std::string shown_text(const Cell& cell, const Column& column);

/// The sum over all rows of a column that is summed; nothing of another.
Cell sum_of(const PlanTable& table, std::size_t column);

/// Places of the columns with these keys, without those of texts in which no row says anything.
std::vector<std::size_t> told_columns(const PlanTable& table, const std::vector<std::string_view>& keys);

/// Comma-separated values as RFC 4180 describes them, numbers without grouping, a line of the keys first.
std::string csv_text(const PlanTable& table, const std::vector<std::string_view>& keys);

/// Its first line, and that of a row, for tables that nobody holds; of the columns at these places.
std::string csv_heading(const std::vector<Column>& columns, const std::vector<std::size_t>& places);
std::string csv_row(const PlanRow& row, const std::vector<Column>& columns, const std::vector<std::size_t>& places);

/// A cell of report_table() and its heading.
std::string report_cell(const Cell& cell, const Column& column);
std::string report_heading(const Column& column);

enum class Sums : bool { no, yes };

/// As Markdown, with a last row "all" that has the sums where they are asked for.
TextTable report_table(const PlanTable& table, const std::vector<std::string_view>& keys, Sums sums = Sums::no);

}  // namespace stowage
