// SPDX-License-Identifier: Apache-2.0
// A table as a value: typed columns, rows that stand for places. Models show it, exports write it, tests read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

/// The kinds that end in _change are shown with their sign.
enum class ColumnKind : std::uint8_t {
  text,
  count,
  bytes,
  cycles,
  share,
  rate,
  number,
  count_change,
  bytes_change,
  cycles_change,
  share_change
};

/// Of a column, that of the column with its changes.
ColumnKind change_kind(ColumnKind kind);

struct Column {
  std::string title;
  ColumnKind kind = ColumnKind::text;
  std::string tip;        ///< what the number is, with its formula
  bool summed = false;    ///< the totals row shows its sum
  bool shown = true;      ///< at first; the column chooser changes it
  bool compared = false;  ///< with a baseline's, where there is one
  std::string of = {};    ///< of a column of changes: title of the column whose changes they are
};

/// Nothing, text, a whole number (counts, bytes, cycles) or a fraction (shares from 0 to 1, rates in bytes per second).
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct Row {
  std::vector<Cell> cells;  ///< one per column
  Place place;
  std::string key = {};                    ///< what it is among the rows of its group, the same in every plan: "get A"
  ColumnKind measure = ColumnKind::count;  ///< what the whole numbers of its count columns are, where rows differ
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<Row> rows;
};
using TablePtr = std::shared_ptr<const Table>;

Table groups_table(const LoadedPlan& plan);
Table operators_table(const LoadedPlan& plan);
Table buffers_table(const LoadedPlan& plan);
Table dma_table(const LoadedPlan& plan);

/// Sums of the summed columns over some rows; the other cells are empty, the first says how many rows.
Row totals_row(const Table& table, const std::vector<std::size_t>& rows);

/// As text for machines: plain digits, nothing grouped or rounded.
std::string plain_text(const Cell& cell);
std::string to_csv(const Table& table, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns);
std::string to_tsv(const Table& table, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns);
std::string to_markdown(const Table& table, const std::vector<std::size_t>& rows,
                        const std::vector<std::size_t>& columns);

}  // namespace stowage::inspector
