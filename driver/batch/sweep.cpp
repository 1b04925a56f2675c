// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/sweep.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/overloaded.h"
#include "driver/batch/sweep_range.h"

namespace stowage {

namespace {

constexpr std::string_view one_value = "a string, a finite number or a truth value";

SweptAxis listed_values(TomlTable& table, const std::string& key, const std::string& name) {
  TomlValue list;
  SweptAxis axis{name, {}};
  if (!table.read(key, list)) return axis;
  const auto* const array = std::get_if<TomlValue::Array>(&list.is);
  if (array == nullptr) {
    table.error("wrong-type", key, fmt::format("'{}' is no list of values", name),
                "a list ([1, 2, 4]) or a range ({ from = 1, to = 4, factor = 2 }) was wanted");
    return axis;
  }
  std::set<std::string> seen;
  for (const TomlValue& value : *array) {
    const auto text = single_text(value);
    if (!text) {
      table.error("wrong-type", key, fmt::format("a value of '{}' is no single value, {} was wanted", name, one_value));
      return {name, {}};
    }
    if (!seen.insert(*text).second) {
      table.error("given-twice", key, fmt::format("'{}' has the value {} twice", name, *text));
      return {name, {}};
    }
    axis.values.push_back(value);
  }
  if (axis.values.empty())
    table.error("no-values", key, fmt::format("'{}' has no value, at least one was wanted", name));
  return axis;
}

/// A number of a range, whole or not.
struct RangeNumber {
  double value = 0;
  bool is_whole = true;
};

std::optional<RangeNumber> range_number(TomlTable& range, std::string_view key, Need need) {
  TomlValue value;
  if (!range.has(key)) {
    double missing = 0;
    range.read(key, missing, 0, 1, need);  // which says so where it is needed
    return std::nullopt;
  }
  if (!range.read(key, value)) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&value.is)) {
    constexpr std::int64_t exact = std::int64_t{1} << 53;  // what a double holds of whole numbers
    if (*whole >= -exact && *whole <= exact) return RangeNumber{static_cast<double>(*whole), true};
  }
  if (const auto* number = std::get_if<double>(&value.is); number != nullptr && std::isfinite(*number)) {
    return RangeNumber{*number, false};
  }
  range.error("wrong-type", key, fmt::format("'{}' is no number that a range can have", key));
  return std::nullopt;
}

/// From `from` to `to` by adding `step` or by multiplying with `factor`.
SweptAxis range_values(TomlTable& range, const std::string& name) {
  const auto from = range_number(range, "from", Need::required);
  const auto to = range_number(range, "to", Need::required);
  const auto step = range_number(range, "step", Need::optional);
  const auto factor = range_number(range, "factor", Need::optional);
  const bool has_step = range.has("step");
  const bool has_factor = range.has("factor");
  range.finish();
  if (!from || !to || (has_step && !step) || (has_factor && !factor)) return {name, {}};
  const auto wrong = [&](std::string_view key, const std::string& why, std::string remedy) {
    range.error("wrong-range", key, fmt::format("the range of '{}' {}", name, why), std::move(remedy));
    return SweptAxis{name, {}};
  };
  if (has_step && has_factor) {
    return wrong("factor", "has both 'step' and 'factor', one was wanted", "take one of them out");
  }
  if (!has_step && !has_factor) {
    return wrong("from", "has neither 'step' nor 'factor', one was wanted",
                 "give what is added ('step') or what is multiplied with ('factor') from value to value");
  }
  if (from->value > to->value) {
    return wrong("to", fmt::format("ends at {} before its beginning {}", to->value, from->value),
                 "give the smaller one as 'from': values ascend");
  }
  if (step && step->value <= 0) {
    return wrong("step", "has a 'step' that is not more than 0", "give a step of more than 0: values ascend");
  }
  if (factor && (factor->value <= 1 || from->value <= 0)) {
    return wrong("factor", "with a 'factor' wants one more than 1, and a 'from' more than 0",
                 "give such numbers, for instance a factor of 2, or a 'step' instead");
  }
  const bool whole = from->is_whole && (step ? step->is_whole : factor->is_whole);
  // A last value that rounding moves behind the end is the end's all the same.
  const double end = to->value + (whole ? 0.0 : std::abs(to->value) * 1e-12);
  SweptAxis axis{name, {}};
  double at = from->value;
  for (std::size_t i = 1; at <= end; ++i) {
    if (axis.values.size() == max_swept_jobs)
      return wrong("to", fmt::format("has more than {} values", max_swept_jobs), "take larger steps, or a nearer end");
    axis.values.push_back(whole ? TomlValue{static_cast<std::int64_t>(at)} : TomlValue{at});
    const double next = step ? from->value + static_cast<double>(i) * step->value : at * factor->value;
    if (!(next > at))
      return wrong(step ? "step" : "factor", "does not move on: its step is too small", "take larger steps");
    at = next;
  }
  axis.values.shrink_to_fit();  // there may be a million, and they stay as long as the jobs
  return axis;
}

bool is_range(const TomlTable& table) { return table.has("from") || table.has("to") || table.has("values"); }

/// Keys of inner tables stand with those of the outer ones and a dot before them.
void read_axes(TomlTable& table, const std::string& prefix, std::vector<SweptAxis>& axes) {
  for (const std::string& key : table.keys()) {
    const bool is_own = prefix.empty() && (key == "combine" || key == "exclude");
    if (is_own) continue;
    const std::string name = prefix + key;
    if (!table.is_table(key)) {
      axes.push_back(listed_values(table, key, name));
      continue;
    }
    TomlTable inner = *table.table(key);
    if (!is_range(inner)) {
      read_axes(inner, name + ".", axes);
    } else if (inner.has("values")) {
      axes.push_back(listed_values(inner, "values", name));
      bool is_told = false;
      for (const char* const of_range : {"from", "to", "step", "factor"}) {
        TomlValue ignored;  // read all the same: none of them is unknown
        if (!inner.read(of_range, ignored) || is_told) continue;
        is_told = true;
        inner.error("wrong-range", of_range,
                    fmt::format("'{}' has both 'values' and '{}', a list or a range was wanted", name, of_range),
                    "take one of them out");
      }
      inner.finish();
    } else {
      axes.push_back(range_values(inner, name));
    }
  }
}

/// A combination is left out where it has one of the values of every key that is named: key by key, as TOML.
using Exclusion = std::vector<std::pair<std::string, std::set<std::string>>>;

void read_exclusion(TomlTable& table, const std::string& prefix, Exclusion& exclusion) {
  for (const std::string& key : table.keys()) {
    if (table.is_table(key)) {
      TomlTable inner = *table.table(key);
      read_exclusion(inner, prefix + key + ".", exclusion);
      continue;
    }
    TomlValue value;
    if (!table.read(key, value)) continue;
    if (const auto text = single_text(value)) {
      exclusion.push_back({prefix + key, {*text}});
    } else {
      auto& [name, texts] = exclusion.emplace_back(prefix + key, std::set<std::string>());
      for (const TomlValue& one : listed_values(table, key, name).values) texts.insert(*single_text(one));
    }
  }
}

/// Keys that stand for the same, or of which one is a table that the other stands in.
void check_keys(TomlTable& table, const std::vector<SweptAxis>& axes) {
  for (std::size_t b = 0; b < axes.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const std::string& shorter = axes[a].key.size() < axes[b].key.size() ? axes[a].key : axes[b].key;
      const std::string& longer = axes[a].key.size() < axes[b].key.size() ? axes[b].key : axes[a].key;
      if (longer != shorter && !longer.starts_with(shorter + ".")) continue;
      table.error("given-twice", "",
                  longer == shorter ? fmt::format("the sweep has '{}' twice", shorter)
                                    : fmt::format("the sweep has '{}' and, in it, '{}'", shorter, longer),
                  "give all its values in one place");
    }
  }
}

/// How many combinations there are; nothing where they are more than are allowed.
std::optional<std::size_t> combination_count(const std::vector<SweptAxis>& axes, bool zipped) {
  if (zipped) return axes.front().values.size();
  std::size_t product = 1;
  for (const SweptAxis& axis : axes) {
    if (axis.values.size() > max_swept_jobs / product) return std::nullopt;
    product *= axis.values.size();
  }
  return product;
}

bool excludes(const Exclusion& exclusion, const Combination& combination) {
  return std::all_of(exclusion.begin(), exclusion.end(), [&](const auto& named) {
    const TomlValue* const value = combination.value(named.first);
    return value != nullptr && named.second.contains(*single_text(*value));
  });
}

std::vector<Exclusion> read_exclusions(TomlTable& table, const std::vector<SweptAxis>& axes) {
  std::vector<std::string> keys;
  for (const SweptAxis& axis : axes) keys.push_back(axis.key);
  std::vector<Exclusion> exclusions;
  for (TomlTable& row : table.tables("exclude")) {
    Exclusion exclusion;
    read_exclusion(row, "", exclusion);
    for (const auto& [key, texts] : exclusion) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      table.error("unknown-key", "exclude", fmt::format("'exclude' names '{}', which is not swept", key),
                  suggest_name(key, keys));
    }
    if (exclusion.empty())
      table.error("no-values", "exclude", "an entry of 'exclude' names no key: it would leave nothing");
    exclusions.push_back(std::move(exclusion));
  }
  return exclusions;
}

/// Of zipped keys that have unequal numbers of values.
void check_lengths(TomlTable& table, const std::vector<SweptAxis>& axes) {
  const bool equal = std::all_of(axes.begin(), axes.end(), [&](const SweptAxis& axis) {
    return axis.values.size() == axes.front().values.size();
  });
  if (equal) return;
  std::vector<std::string> lengths;
  for (const SweptAxis& axis : axes) lengths.push_back(fmt::format("'{}' {}", axis.key, axis.values.size()));
  table.error("unequal-lengths", "combine",
              fmt::format("\"zip\" takes as many values of every key, but of {}", fmt::join(lengths, ", of ")));
}

/// A value as a part of a name: a path by its file, a string without its quotes.
std::string part_of_name(const SweptValue& swept) {
  const auto* const text = std::get_if<std::string>(&swept.value.is);
  if (text == nullptr) return swept.toml;
  const bool is_path = swept.key == "model" || text->find('/') != std::string::npos;
  return is_path ? std::filesystem::path(*text).stem().string() : *text;
}

}  // namespace

std::optional<std::string> single_text(const TomlValue& value) {
  return std::visit(Overloaded{[](bool truth) -> std::optional<std::string> { return truth ? "true" : "false"; },
                               [](std::int64_t whole) -> std::optional<std::string> { return std::to_string(whole); },
                               [](double number) -> std::optional<std::string> {
                                 if (!std::isfinite(number)) return std::nullopt;
                                 std::string text = fmt::format("{}", number);
                                 const bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
                                 return is_whole ? text + ".0" : text;
                               },
                               [](const std::string& text) -> std::optional<std::string> { return quoted_toml(text); },
                               [](const auto&) -> std::optional<std::string> { return std::nullopt; }},
                    value.is);
}

std::optional<std::vector<Combination>> read_sweep(TomlTable& table, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.entries().size();
  std::string combine = "product";
  if (table.read("combine", combine) && combine != "product" && combine != "zip") {
    table.error("wrong-value", "combine",
                fmt::format("'combine' is \"{}\", \"product\" or \"zip\" was wanted", combine));
  }
  std::vector<SweptAxis> axes;
  read_axes(table, "", axes);
  // Whether a key stands between quotes or in inner tables.
  std::stable_sort(axes.begin(), axes.end(), [](const SweptAxis& a, const SweptAxis& b) { return a.key < b.key; });
  check_keys(table, axes);
  if (axes.empty()) table.error("no-values", "", "the sweep has no key whose values it could take");
  const std::vector<Exclusion> exclusions = read_exclusions(table, axes);
  const bool has_values =
      std::none_of(axes.begin(), axes.end(), [](const SweptAxis& axis) { return axis.values.empty(); });
  const bool zipped = combine == "zip";
  if (has_values && zipped && !axes.empty()) check_lengths(table, axes);
  if (diagnostics.entries().size() != errors_before) return std::nullopt;

  const auto count = combination_count(axes, zipped);
  if (!count) {
    std::vector<std::size_t> sizes;
    for (const SweptAxis& axis : axes) sizes.push_back(axis.values.size());
    table.error("too-many-jobs", axes.front().key,
                fmt::format("the sweep makes {} jobs, at most {} are allowed", fmt::join(sizes, " x "), max_swept_jobs),
                "take fewer values, or combine = \"zip\"");
    return std::nullopt;
  }
  const auto shared = std::make_shared<const std::vector<SweptAxis>>(std::move(axes));
  std::vector<Combination> kept;
  std::vector<bool> used(exclusions.size(), false);
  for (std::size_t i = 0; i < *count; ++i) {
    Combination values(shared, zipped, i);
    bool excluded = false;
    for (std::size_t e = 0; e < exclusions.size(); ++e) {
      if (!excludes(exclusions[e], values)) continue;
      excluded = true;
      used[e] = true;
    }
    if (!excluded) kept.push_back(std::move(values));
  }
  for (std::size_t e = 0; e < used.size(); ++e) {
    if (used[e]) continue;
    table.error("excludes-nothing", "exclude", fmt::format("entry {} of 'exclude' fits no combination", e + 1),
                "its values are written as those of the keys are");
  }
  if (kept.empty()) table.error("nothing-left", "exclude", "'exclude' leaves no combination");
  if (diagnostics.entries().size() != errors_before) return std::nullopt;
  return kept;
}

Result<std::vector<SweptValue>> swept_range(const std::string& key, const RangeText& range, Diagnostics& diagnostics) {
  Diagnostics own;
  for (const std::string& number : {range.from, range.to, range.step, range.factor}) {
    if (number.find_first_not_of("0123456789+-._eE") == std::string::npos) continue;
    own.error("wrong-type", {}, fmt::format("'{}' is no number", number));
  }
  std::string text = fmt::format("from = {}\nto = {}\n", range.from, range.to);
  if (!range.step.empty()) text += fmt::format("step = {}\n", range.step);
  if (!range.factor.empty()) text += fmt::format("factor = {}\n", range.factor);
  SweptAxis axis;
  if (!own.has_errors()) {
    if (auto table = TomlTable::parse(text, "range", own)) axis = range_values(*table, key);
  }
  for (Diagnostic diagnostic : own.entries()) {
    diagnostic.location = {};
    diagnostic.location.file = fmt::format("--from {} --to {}", range.from, range.to);
    if (!range.step.empty()) diagnostic.location.file += " --step " + range.step;
    if (!range.factor.empty()) diagnostic.location.file += " --factor " + range.factor;
    diagnostic.source_line.clear();
    diagnostics.add(std::move(diagnostic));
  }
  if (own.has_errors()) return Failed{};
  SweptValues values;
  for (const TomlValue& value : axis.values) values.push_back({key, value, *single_text(value)});
  return values;
}

std::optional<double> number_of(const TomlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.is)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value.is)) return *number;
  return std::nullopt;
}

Combination::Combination(const SweptValues& values) {
  if (values.empty()) return;
  std::vector<SweptAxis> axes;
  axes.reserve(values.size());
  for (const SweptValue& swept : values) axes.push_back({swept.key, {swept.value}});
  axes_ = std::make_shared<const std::vector<SweptAxis>>(std::move(axes));
}

Combination::Combination(std::shared_ptr<const std::vector<SweptAxis>> axes, bool zipped, std::size_t number)
    : axes_(std::move(axes)), number_(static_cast<std::uint32_t>(number)), zipped_(zipped) {}

const TomlValue& Combination::value_at(std::size_t axis) const {
  const std::vector<TomlValue>& values = (*axes_)[axis].values;
  if (zipped_) return values[number_];
  // The last key varies fastest.
  std::size_t number = number_;
  for (std::size_t later = axes_->size() - 1; later > axis; --later) number /= (*axes_)[later].values.size();
  return values[number % values.size()];
}

SweptValues Combination::values() const {
  SweptValues values;
  for (std::size_t i = 0; !empty() && i < axes_->size(); ++i) {
    const TomlValue& value = value_at(i);
    values.push_back({(*axes_)[i].key, value, single_text(value).value_or("")});
  }
  return values;
}

const TomlValue* Combination::value(std::string_view key) const {
  for (std::size_t i = 0; !empty() && i < axes_->size(); ++i) {
    if ((*axes_)[i].key == key) return &value_at(i);
  }
  return nullptr;
}

std::string swept_name(const std::string& name, const SweptValues& values) {
  std::string filled = name;
  bool has_place = false;
  for (const SweptValue& swept : values) {
    const std::string place = "{" + swept.key + "}";
    const std::string part = part_of_name(swept);
    for (std::size_t at = 0; (at = filled.find(place, at)) != std::string::npos; at += part.size()) {
      filled.replace(at, place.size(), part);
      has_place = true;
    }
  }
  if (has_place) return filled;
  for (const SweptValue& swept : values) filled += "-" + part_of_name(swept);
  return filled;
}

std::string swept_table(const SweptValues& values) {
  std::string text;
  for (const SweptValue& swept : values) {
    constexpr std::string_view dimension = "dim.";
    if (swept.key.starts_with("target.")) {
      text += fmt::format("set.{} = {}\n", quoted_toml(swept.key), swept.toml);
    } else if (swept.key.starts_with(dimension)) {
      text += fmt::format("dim.{} = {}\n", quoted_toml(swept.key.substr(dimension.size())), swept.toml);
    } else {
      text += fmt::format("{} = {}\n", quoted_toml(swept.key), swept.toml);
    }
  }
  return text;
}

}  // namespace stowage
