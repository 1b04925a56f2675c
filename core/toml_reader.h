// SPDX-License-Identifier: Apache-2.0
// Strict reading of TOML. A caller asks for every key it knows; finish() makes an error of each key that nobody asked
// for, with the nearest known name. Wrong types, ranges and missing keys are located diagnostics with the line and a
// caret, and reading goes on, so that one run reports several mistakes. toml++ stays inside toml_reader.cpp.
//
// Codes: toml-syntax, unknown-key, wrong-type, out-of-range, missing-key, given-twice.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/diagnostics.h"
#include "core/index_expr.h"

namespace stowage {

enum class Need : std::uint8_t { optional, required };

/// Any value but a date, for callers that judge its form themselves; a table's entries are sorted by key.
struct TomlValue {
  using Array = std::vector<TomlValue>;
  using Table = std::vector<std::pair<std::string, TomlValue>>;
  std::variant<bool, std::int64_t, double, std::string, Array, Table> is = false;
};

/// A key of a document as it was once written, and the table and key under which it is read today; dots lead into
/// tables. A table of the old name is something else and stays.
struct MovedKey {
  std::string_view from;
  std::string_view table;
  std::string_view key;
};

/// The end of the range of a whole number that has none of its own.
inline constexpr std::int64_t largest_integer = std::numeric_limits<std::int64_t>::max();

class TomlTable {
 public:
  /// Parses a document. `file` is what messages call it.
  static Result<TomlTable> parse(std::string_view text, const std::string& file, Diagnostics& diagnostics);

  /// Brings these keys of the document, and of what will be laid over it, to where they are read today. One that is
  /// given in both places is reported (given-twice).
  void move_keys(std::span<const MovedKey> moved);

  /// Lays `settings` ("key = value" in TOML syntax, dotted keys reach into tables) over the document; `prefix` is what
  /// messages put before each, for instance "--set target.".
  void overlay(const std::vector<std::string>& settings, const std::string& prefix);

  // Each read ticks its key off. It returns true and sets `to` if the key is there and right; a key that is wrong, or
  // required and missing, is reported.
  bool read(std::string_view key, std::string& to, Need need = Need::optional);
  bool read(std::string_view key, bool& to, Need need = Need::optional);
  bool read(std::string_view key, std::int64_t& to, Interval range, Need need = Need::optional);
  bool read(std::string_view key, int& to, Interval range, Need need = Need::optional);
  bool read(std::string_view key, double& to, double low, double high, Need need = Need::optional);
  bool read(std::string_view key, std::vector<std::string>& to, Need need = Need::optional);
  bool read(std::string_view key, std::vector<std::vector<std::string>>& to, Need need = Need::optional);
  bool read(std::string_view key, TomlValue& to, Need need = Need::optional);
  /// Any value, as the TOML text that denotes it.
  bool read_any(std::string_view key, std::string& to, Need need = Need::optional);

  /// Whether the key is there and a table; ticks nothing off.
  [[nodiscard]] bool is_table(std::string_view key) const;
  std::optional<TomlTable> table(std::string_view key, Need need = Need::optional);
  /// The tables of an array of tables, in order.
  std::vector<TomlTable> tables(std::string_view key, Need need = Need::optional);

  [[nodiscard]] bool has(std::string_view key) const;
  /// Every key of this table, sorted; for tables whose keys are names of the user's things.
  [[nodiscard]] std::vector<std::string> keys() const;

  /// Reports at the key's value, or at the table where the key is missing.
  void error(std::string code, std::string_view key, std::string message, std::string remedy = {});
  /// A diagnostic to be filled in later, with the location and source line that error() would take.
  [[nodiscard]] Diagnostic located(std::string_view key) const;
  /// Reports every key that was not asked for.
  void finish();

 private:
  template <class Value>
  bool read_array(std::string_view key, std::vector<Value>& to, std::string_view what, Need need);

  struct Document;
  struct Node;
  explicit TomlTable(std::shared_ptr<Node> node);
  struct Found;
  std::shared_ptr<Node> node_;
};

/// A TOML string, in quotes.
std::string quoted_toml(std::string_view text);

}  // namespace stowage
