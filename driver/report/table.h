// SPDX-License-Identifier: Apache-2.0
// Tables as values: typed columns and rows of cells. What a column is called, means and counts is told once; the
// window and files for spreadsheets each choose among the columns and write the cells their way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/ids.h"

namespace stowage {

/// The kinds that end in _change are shown with their sign.
enum class ColumnKind : std::uint8_t {
  text,
  extents,  ///< text, elements per dimension: "1x64"
  count,
  bytes,
  cycles,
  seconds,
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
/// Whether its cells are changes.
bool is_change(ColumnKind kind);
/// What numbers are in a column of that kind and in a row that measures that: only counts are what their row says.
ColumnKind measured_kind(ColumnKind column, ColumnKind row);
/// Whether its cells are words, which stand at the left.
bool is_text(ColumnKind kind);

struct Column {
  std::string title;
  ColumnKind kind = ColumnKind::text;
  std::string tip;          ///< what the number is, with its formula
  bool summed = false;      ///< the totals row shows its sum
  bool shown = true;        ///< in the window, at first; the column chooser changes it
  bool compared = false;    ///< with a baseline's, where there is one
  std::string of = {};      ///< of a column of changes: key of the column whose changes they are
  std::string key = {};     ///< what it is among those of its table, whatever its title; heading in files for machines
  std::string absent = {};  ///< what a person reads for an empty text
};

Column keyed(std::string key, Column column);
Column keyed(std::string key, std::string title, ColumnKind kind, std::string tip);

/// Nothing, text, a whole number (counts, bytes, cycles) or a fraction (shares from 0 to 1, rates in bytes per second).
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// A row and what it is about: indices into a Program, nothing where it is about none.
struct PlanRow {
  std::vector<Cell> cells;  ///< one per column
  std::optional<StepId> step;
  std::optional<OpId> op = std::nullopt;
  std::optional<BufferId> buffer = std::nullopt;
  std::optional<StatementId> statement = std::nullopt;
  std::string name = {};                   ///< what it is among the rows of its step, the same in every plan: "get A"
  ColumnKind measure = ColumnKind::count;  ///< what the numbers of its count columns are, where rows differ
};

struct PlanTable {
  std::string title;
  std::vector<Column> columns;
  std::vector<PlanRow> rows;
};

/// That every column has a key, and each another one. Without it is a mistake of ours.
void check_keys(const std::vector<Column>& columns);
/// Places of columns by their keys, in that order. A key that no column has is a mistake of ours.
std::vector<std::size_t> columns_by_key(const std::vector<Column>& columns, const std::vector<std::string_view>& keys);

/// As text for machines: plain digits, nothing grouped; seconds in full, rates in whole bytes, other fractions to six
/// digits.
std::string plain_text(const Cell& cell, ColumnKind kind);

}  // namespace stowage
