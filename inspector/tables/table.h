// SPDX-License-Identifier: Apache-2.0
// A table as a value: typed columns (driver/report/table.h), rows that stand for subjects. Models show it, exports
// write it, tests read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/report/table.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

struct Row {
  std::vector<Cell> cells;  ///< one per column
  Subject subject;
  std::string key = {};                    ///< what it is among the rows of its group, the same in every plan: "get A"
  ColumnKind measure = ColumnKind::count;  ///< what the whole numbers of its count columns are, where rows differ
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<Row> rows;
};
using TablePtr = std::shared_ptr<const Table>;

// The tables of a plan (driver/report/plan_tables.h).

Table groups_table(const LoadedPlan& plan);
Table operators_table(const LoadedPlan& plan);
Table buffers_table(const LoadedPlan& plan);
Table dma_table(const LoadedPlan& plan);

/// Sums of the summed columns over some rows; the other cells are empty, the first says how many rows.
Row totals_row(const Table& table, const std::vector<std::size_t>& rows);

// As text for machines and documents, cells as plain_text has them.

std::string to_csv(const Table& table, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns);
std::string to_tsv(const Table& table, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns);
std::string to_markdown(const Table& table, const std::vector<std::size_t>& rows,
                        const std::vector<std::size_t>& columns);

}  // namespace stowage::inspector
