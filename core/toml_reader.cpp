// SPDX-License-Identifier: Apache-2.0
#include "core/toml_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace stowage {

namespace {

/// Lays `over` on `under`. Values are moved, because a copy of a toml++ node forgets its location.
void merge(toml::table& under, toml::table&& over) {
  for (auto&& [key, value] : over) {
    toml::node* existing = under.get(key.str());
    if (existing != nullptr && existing->is_table() && value.is_table()) {
      merge(*existing->as_table(), std::move(*value.as_table()));
    } else {
      value.visit([&, &k = key](auto& concrete) { under.insert_or_assign(k, std::move(concrete)); });
    }
  }
}

/// What stands at a path of keys with dots between them, if there is anything.
toml::node* node_at(toml::table& table, std::string_view path) {
  const std::size_t dot = path.find('.');
  toml::node* const found = table.get(path.substr(0, dot));
  if (found == nullptr || dot == std::string_view::npos) return found;
  return found->is_table() ? node_at(*found->as_table(), path.substr(dot + 1)) : nullptr;
}

/// The table in which the last key of a path stands.
toml::table* table_around(toml::table& table, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return &table;
  toml::node* const found = node_at(table, path.substr(0, dot));
  return found != nullptr ? found->as_table() : nullptr;
}

}  // namespace

struct TomlTable::Document {
  toml::table root;
  std::map<std::string, std::vector<std::string>> lines;  ///< by the path that toml++ knows a text under
  std::string file;
  Diagnostics* diagnostics = nullptr;
  std::vector<MovedKey> moved;

  void keep_lines(const std::string& path, std::string_view text) {
    std::istringstream stream{std::string(text)};
    for (std::string line; std::getline(stream, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      lines[path].push_back(std::move(line));
    }
  }

  [[nodiscard]] std::string line_of(const std::string& path, std::size_t line) const {
    const auto text = lines.find(path);
    if (text == lines.end() || line == 0 || line > text->second.size()) return {};
    return text->second[line - 1];
  }

  /// toml++ walks nested tables recursively, so keys of many thousand parts would end on the stack.
  [[nodiscard]] bool refuse_deep_keys(const std::string& path) const {
    constexpr std::ptrdiff_t max_dots = 1000;
    const auto text = lines.find(path);
    if (text == lines.end()) return false;
    for (std::size_t i = 0; i < text->second.size(); ++i) {
      if (std::count(text->second[i].begin(), text->second[i].end(), '.') <= max_dots) continue;
      SourceLocation location;
      location.file = path;
      location.line = static_cast<int>(i + 1);
      diagnostics->error("toml-syntax", location, fmt::format("a line has more than {} dots", max_dots));
      return true;
    }
    return false;
  }

  /// Brings keys that are written as they once were to where they are read today.
  void move_keys(toml::table& text) const {
    for (const MovedKey& moving : moved) {
      toml::node* value = node_at(text, moving.from);
      if (value == nullptr || value->is_table()) continue;
      toml::table into;
      // Values are moved, because a copy of a toml++ node forgets its location.
      value->visit([&](auto& concrete) { into.insert(moving.key, std::move(concrete)); });
      table_around(text, moving.from)->erase(moving.from.substr(moving.from.rfind('.') + 1));
      toml::node* there = node_at(text, moving.table);
      if (there == nullptr) {
        text.insert(moving.table, std::move(into));
      } else if (toml::table* table = there->as_table(); table != nullptr && !table->contains(moving.key)) {
        merge(*table, std::move(into));
      } else {
        error(into.get(moving.key)->source(), "given-twice",
              fmt::format("'{}' is given beside '{}', of which it is the earlier name", moving.from,
                          there->is_table() ? fmt::format("{}.{}", moving.table, moving.key) : moving.table),
              "one of them is enough");
      }
    }
  }

  [[nodiscard]] Diagnostic located(const toml::source_region& region) const {
    Diagnostic diagnostic;
    diagnostic.location.file = region.path ? *region.path : file;
    diagnostic.location.line = static_cast<int>(region.begin.line);
    diagnostic.location.column = static_cast<int>(region.begin.column);
    diagnostic.source_line = line_of(diagnostic.location.file, region.begin.line);
    const bool one_line = region.end.line == region.begin.line && region.end.column > region.begin.column;
    diagnostic.location.end_column = one_line ? static_cast<int>(region.end.column) : diagnostic.location.column + 1;
    return diagnostic;
  }

  void error(const toml::source_region& region, std::string code, std::string message, std::string remedy) const {
    Diagnostic diagnostic = located(region);
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.remedy = std::move(remedy);
    diagnostics->add(std::move(diagnostic));
  }
};

struct TomlTable::Node {
  std::shared_ptr<Document> document;
  toml::table* table = nullptr;  ///< inside document->root
  std::string path;              ///< "" for the document, "job.schedule" for a table in it
  std::set<std::string, std::less<>> asked;

  [[nodiscard]] toml::node* ask(std::string_view key) {
    asked.emplace(key);
    return table->get(key);
  }
  [[nodiscard]] std::string full_name(std::string_view key) const {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  }
  [[nodiscard]] toml::source_region region_of(std::string_view key) const {
    const toml::node* found = table->get(key);
    return found != nullptr ? found->source() : table->source();
  }
};

namespace {

std::string_view type_text(toml::node_type type) {
  switch (type) {
    case toml::node_type::none: return "nothing";
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a number";
    case toml::node_type::boolean: return "a truth value";
    case toml::node_type::date: return "a date";
    case toml::node_type::time: return "a time";
    case toml::node_type::date_time: return "a date and time";
  }
  fail_check("unknown TOML type");
}

std::string value_text(const toml::node& node) {
  std::ostringstream text;
  text << toml::toml_formatter{node};
  return text.str();
}

/// False where there is a date in the value.
bool convert(const toml::node& node, TomlValue& to) {
  bool right = true;
  node.visit([&](const auto& concrete) {
    using Node = std::decay_t<decltype(concrete)>;
    if constexpr (std::is_same_v<Node, toml::array>) {
      TomlValue::Array elements(concrete.size());
      for (std::size_t i = 0; i < elements.size(); ++i) right = convert(concrete[i], elements[i]) && right;
      to.is = std::move(elements);
    } else if constexpr (std::is_same_v<Node, toml::table>) {
      TomlValue::Table entries;
      for (const auto& [key, value] : concrete) {
        entries.emplace_back(key.str(), TomlValue{});
        right = convert(value, entries.back().second) && right;
      }
      to.is = std::move(entries);
    } else if constexpr (toml::is_string<Node> || toml::is_integer<Node> || toml::is_floating_point<Node> ||
                         toml::is_boolean<Node>) {
      to.is = concrete.get();
    } else {
      right = false;
    }
  });
  return right;
}

}  // namespace

TomlTable::TomlTable(std::shared_ptr<Node> node) : node_(std::move(node)) {}

Result<TomlTable> TomlTable::parse(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  auto document = std::make_shared<Document>();
  document->file = file;
  document->keep_lines(file, text);
  document->diagnostics = &diagnostics;
  if (document->refuse_deep_keys(file)) return Failed{};
  try {
    document->root = toml::parse(text, std::string_view{file});
  } catch (const toml::parse_error& failure) {
    document->error(failure.source(), "toml-syntax", std::string(failure.description()), {});
    return Failed{};
  }
  auto node = std::make_shared<Node>();
  node->document = document;
  node->table = &document->root;
  return TomlTable(node);
}

void TomlTable::move_keys(std::span<const MovedKey> moved) {
  node_->document->moved.assign(moved.begin(), moved.end());
  node_->document->move_keys(node_->document->root);
}

void TomlTable::overlay(const std::vector<std::string>& settings, const std::string& prefix) {
  Document& document = *node_->document;
  for (const std::string& setting : settings) {
    const std::string file = prefix + setting;
    document.keep_lines(file, setting);
    if (document.refuse_deep_keys(file)) continue;
    try {
      toml::table parsed = toml::parse(setting, std::string_view{file});
      document.move_keys(parsed);
      merge(*node_->table, std::move(parsed));
    } catch (const toml::parse_error& failure) {
      document.error(failure.source(), "toml-syntax", std::string(failure.description()),
                     "a setting is key=value in TOML syntax; strings stand in quotes");
    }
  }
}

/// What a read found: the node if its type is right; everything else was reported.
struct TomlTable::Found {
  static toml::node* of_type(Node& self, std::string_view key, Need need, std::string_view wanted,
                             std::initializer_list<toml::node_type> types) {
    toml::node* found = self.ask(key);
    if (found == nullptr) {
      if (need == Need::required) {
        // A key that the document itself lacks has no line.
        self.document->error(self.path.empty() ? toml::source_region{} : self.table->source(), "missing-key",
                             fmt::format("'{}' is missing: {} was wanted", self.full_name(key), wanted), {});
      }
      return nullptr;
    }
    for (const toml::node_type type : types) {
      if (found->type() == type) return found;
    }
    self.document->error(
        found->source(), "wrong-type",
        fmt::format("'{}' is {}, {} was wanted", self.full_name(key), type_text(found->type()), wanted), {});
    return nullptr;
  }
};

bool TomlTable::read(std::string_view key, std::string& to, Need need) {
  const toml::node* found = Found::of_type(*node_, key, need, "a string", {toml::node_type::string});
  if (found == nullptr) return false;
  to = found->as_string()->get();
  return true;
}

bool TomlTable::read(std::string_view key, bool& to, Need need) {
  const toml::node* found = Found::of_type(*node_, key, need, "true or false", {toml::node_type::boolean});
  if (found == nullptr) return false;
  to = found->as_boolean()->get();
  return true;
}

bool TomlTable::read(std::string_view key, std::int64_t& to, Interval range, Need need) {
  const toml::node* found = Found::of_type(*node_, key, need, "an integer", {toml::node_type::integer});
  if (found == nullptr) return false;
  const std::int64_t value = found->as_integer()->get();
  if (value < range.low || value > range.high) {
    error("out-of-range", key,
          fmt::format("'{}' is {}, but lies between {} and {}", node_->full_name(key), value, range.low, range.high));
    return false;
  }
  to = value;
  return true;
}

bool TomlTable::read(std::string_view key, int& to, Interval range, Need need) {
  std::int64_t value = 0;
  if (!read(key, value, range, need)) return false;
  to = static_cast<int>(value);
  return true;
}

bool TomlTable::read(std::string_view key, double& to, double low, double high, Need need) {
  const toml::node* found =
      Found::of_type(*node_, key, need, "a number", {toml::node_type::floating_point, toml::node_type::integer});
  if (found == nullptr) return false;
  const double value =
      found->is_integer() ? static_cast<double>(found->as_integer()->get()) : found->as_floating_point()->get();
  if (!(value >= low && value <= high)) {  // also refuses NaN
    error("out-of-range", key,
          fmt::format("'{}' is {}, but lies between {} and {}", node_->full_name(key), value, low, high));
    return false;
  }
  to = value;
  return true;
}

namespace {

/// Reads arrays of strings, and arrays of such. `wrong` reports an element that is neither.
template <class Wrong>
bool read_element(const toml::node& element, std::string& to, const Wrong& wrong) {
  const auto* text = element.as_string();
  if (text == nullptr) return wrong(element, "strings");
  to = text->get();
  return true;
}

template <class Value, class Wrong>
bool read_element(const toml::node& element, std::vector<Value>& to, const Wrong& wrong) {
  if (element.as_array() == nullptr) return wrong(element, "arrays of strings");
  std::vector<Value> values;
  bool right = true;
  for (const toml::node& inner : *element.as_array()) {
    right = read_element(inner, values.emplace_back(), wrong) && right;
  }
  if (right) to = std::move(values);
  return right;
}

}  // namespace

template <class Value>
bool TomlTable::read_array(std::string_view key, std::vector<Value>& to, std::string_view what, Need need) {
  const toml::node* found = Found::of_type(*node_, key, need, what, {toml::node_type::array});
  if (found == nullptr) return false;
  return read_element(*found, to, [&](const toml::node& element, std::string_view wanted) {
    node_->document->error(
        element.source(), "wrong-type",
        fmt::format("'{}' holds {}, {} were wanted", node_->full_name(key), type_text(element.type()), wanted), {});
    return false;
  });
}

bool TomlTable::read(std::string_view key, std::vector<std::string>& to, Need need) {
  return read_array(key, to, "an array of strings", need);
}

bool TomlTable::read(std::string_view key, std::vector<std::vector<std::string>>& to, Need need) {
  return read_array(key, to, "an array of arrays of strings", need);
}

bool TomlTable::read(std::string_view key, TomlValue& to, Need need) {
  const std::string_view wanted = "a truth value, number, string, array or table";
  const toml::node* found =
      Found::of_type(*node_, key, need, wanted,
                     {toml::node_type::string, toml::node_type::integer, toml::node_type::floating_point,
                      toml::node_type::boolean, toml::node_type::array, toml::node_type::table});
  if (found == nullptr) return false;
  TomlValue value;
  if (!convert(*found, value)) {
    error("wrong-type", key, fmt::format("'{}' holds a date, {} was wanted", node_->full_name(key), wanted));
    return false;
  }
  to = std::move(value);
  return true;
}

bool TomlTable::read_any(std::string_view key, std::string& to, Need need) {
  const toml::node* found =
      Found::of_type(*node_, key, need, "a value",
                     {toml::node_type::string, toml::node_type::integer, toml::node_type::floating_point,
                      toml::node_type::boolean, toml::node_type::array, toml::node_type::table});
  if (found == nullptr) return false;
  to = value_text(*found);
  return true;
}

bool TomlTable::is_table(std::string_view key) const {
  const toml::node* found = node_->table->get(key);
  return found != nullptr && found->is_table();
}

std::optional<TomlTable> TomlTable::table(std::string_view key, Need need) {
  toml::node* found = Found::of_type(*node_, key, need, "a table", {toml::node_type::table});
  if (found == nullptr) return std::nullopt;
  auto child = std::make_shared<Node>();
  child->document = node_->document;
  child->table = found->as_table();
  child->path = node_->full_name(key);
  return TomlTable(child);
}

std::vector<TomlTable> TomlTable::tables(std::string_view key, Need need) {
  toml::node* found = Found::of_type(*node_, key, need, "an array of tables", {toml::node_type::array});
  std::vector<TomlTable> result;
  if (found == nullptr) return result;
  for (toml::node& element : *found->as_array()) {
    if (!element.is_table()) {
      node_->document->error(
          element.source(), "wrong-type",
          fmt::format("'{}' holds {}, tables were wanted", node_->full_name(key), type_text(element.type())), {});
      continue;
    }
    auto child = std::make_shared<Node>();
    child->document = node_->document;
    child->table = element.as_table();
    child->path = node_->full_name(key);
    result.push_back(TomlTable(child));
  }
  return result;
}

bool TomlTable::has(std::string_view key) const { return node_->table->contains(key); }

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> result;
  for (const auto& [key, value] : *node_->table) result.emplace_back(key.str());
  return result;
}

void TomlTable::error(std::string code, std::string_view key, std::string message, std::string remedy) {
  node_->document->error(node_->region_of(key), std::move(code), std::move(message), std::move(remedy));
}

Diagnostic TomlTable::located(std::string_view key) const { return node_->document->located(node_->region_of(key)); }

void TomlTable::finish() {
  const std::vector<std::string> known(node_->asked.begin(), node_->asked.end());
  for (const auto& [key, value] : *node_->table) {
    if (node_->asked.contains(key.str())) continue;
    node_->document->error(key.source(), "unknown-key", fmt::format("unknown key '{}'", node_->full_name(key.str())),
                           suggest_name(key.str(), known));
  }
}

std::string quoted_toml(std::string_view text) { return value_text(toml::value<std::string>(std::string(text))); }

}  // namespace stowage
