// SPDX-License-Identifier: Apache-2.0
#include "driver/json/json_rows.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stowage {

namespace {

/// Builds values from the parser's events, as the library does, but lets rows go.
class RowBuilder : public Json::json_sax_t {
 public:
  RowBuilder(const std::map<std::string, RowReader>& rows, const std::stop_token& stop, Json& root)
      : rows_(rows), stop_(stop), root_(root) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override {
    Json object = Json::object();
    object.get_ref<Json::object_t&>().reserve(usual_entries);
    return open(std::move(object));
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().key = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    // The library hands over its base and would throw what it is.
    if (const auto* syntax = dynamic_cast<const Json::parse_error*>(&error)) throw *syntax;
    if (const auto* range = dynamic_cast<const Json::out_of_range*>(&error)) throw *range;
    throw std::invalid_argument(error.what());
  }

 private:
  /// Of an object. It is an array of entries, which are copied whenever it grows.
  static constexpr std::size_t usual_entries = 8;

  /// An object or array that is not at its end.
  struct Level {
    Json* value = nullptr;
    std::string key;                    ///< of an object: of its current entry
    const RowReader* reader = nullptr;  ///< of an array: takes its elements
  };

  /// Files that are written here have a dozen levels.
  static constexpr std::size_t max_levels = 64;

  Json* place(Json value) {
    if (levels_.empty()) return &(root_ = std::move(value));
    Level& level = levels_.back();
    if (level.reader != nullptr) return &(row_ = std::move(value));
    if (level.value->is_array()) return &level.value->emplace_back(std::move(value));
    return &((*level.value)[level.key] = std::move(value));
  }

  bool add(Json value) {
    place(std::move(value));
    take_row();
    return true;
  }

  bool open(Json value) {
    if (levels_.size() >= max_levels) {
      throw std::invalid_argument(fmt::format("brackets stand in more than {} others", max_levels));
    }
    const RowReader* const reader = value.is_array() && !in_row_ ? reader_here() : nullptr;
    in_row_ = in_row_ || (!levels_.empty() && levels_.back().reader != nullptr);
    Json* const placed = place(std::move(value));
    levels_.push_back({placed, {}, reader});
    return true;
  }

  bool close() {
    levels_.pop_back();
    take_row();
    return true;
  }

  /// If what has just come to its end was a row.
  void take_row() {
    if (levels_.empty() || levels_.back().reader == nullptr) return;
    if (stop_.stop_requested()) throw ReadingStopped();
    in_row_ = false;
    (*levels_.back().reader)(row_, root_);
  }

  /// Of an array that begins as the value of the current keys.
  [[nodiscard]] const RowReader* reader_here() const {
    std::string path;
    for (const Level& level : levels_) path += (path.empty() ? "" : "/") + level.key;
    const auto found = rows_.find(path);
    return found == rows_.end() ? nullptr : &found->second;
  }

  const std::map<std::string, RowReader>& rows_;
  const std::stop_token& stop_;
  Json& root_;
  Json row_;
  bool in_row_ = false;
  std::vector<Level> levels_;
};

}  // namespace

Json parse_rows(std::string_view text, const std::map<std::string, RowReader>& rows, const std::stop_token& stop) {
  Json root;
  RowBuilder builder(rows, stop, root);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return root;
}

}  // namespace stowage
