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

enum class Sums : bool { no, yes };

/// As Markdown, with a last row "all" that has the sums where they are asked for.
TextTable report_table(const PlanTable& table, const std::vector<std::string_view>& keys, Sums sums = Sums::no);

}  // namespace stowage
