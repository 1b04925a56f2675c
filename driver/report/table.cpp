// SPDX-License-Identifier: Apache-2.0
#include "driver/report/table.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {

ColumnKind change_kind(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::text:
    case ColumnKind::extents: return kind;
    case ColumnKind::bytes: return ColumnKind::bytes_change;
    case ColumnKind::cycles: return ColumnKind::cycles_change;
    case ColumnKind::share: return ColumnKind::share_change;
    default: return ColumnKind::count_change;
  }
}

bool is_change(ColumnKind kind) { return kind >= ColumnKind::count_change; }

ColumnKind measured_kind(ColumnKind column, ColumnKind row) {
  if (row == ColumnKind::count) return column;
  if (column == ColumnKind::count) return row;
  return column == ColumnKind::count_change ? change_kind(row) : column;
}

Column keyed(std::string key, Column column) {
  column.key = std::move(key);
  return column;
}

Column keyed(std::string key, std::string title, ColumnKind kind, std::string tip) {
  return keyed(std::move(key), Column{std::move(title), kind, std::move(tip)});
}

bool is_text(ColumnKind kind) { return kind == ColumnKind::text || kind == ColumnKind::extents; }

void check_keys(const std::vector<Column>& columns) {
  std::set<std::string_view> keys;
  for (const Column& column : columns) {
    check(!column.key.empty(), fmt::format("the column {} has no key", column.title));
    check(keys.insert(column.key).second, fmt::format("two columns are called {}", column.key));
  }
}

std::vector<std::size_t> columns_by_key(const std::vector<Column>& columns, const std::vector<std::string_view>& keys) {
  std::vector<std::size_t> places;
  for (const std::string_view key : keys) {
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.key == key; });
    check(found != columns.end(), fmt::format("no column is called {}", key));
    places.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  return places;
}

std::string plain_text(const Cell& cell, ColumnKind kind) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* fraction = std::get_if<double>(&cell)) {
    if (kind == ColumnKind::seconds) return fmt::format("{}", *fraction);
    if (kind == ColumnKind::rate) return fmt::format("{:.0f}", *fraction);
    return fmt::format("{:.6g}", *fraction);
  }
  return {};
}

}  // namespace stowage
