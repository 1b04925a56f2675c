// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/option_values.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "core/diagnostics.h"
#include "driver/batch/shard.h"
#include "driver/text/memory_size.h"

namespace stowage {

namespace {

/// In front of a check's name that holds the values that it knows.
constexpr std::string_view mark = "values:";

std::string name_with(const std::vector<std::string>& names) {
  return fmt::format("{} {}", mark, fmt::join(names, " "));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// The checks of an option; CLI11 tells their number by throwing.
std::vector<std::string> check_names(CLI::Option& option) {
  std::vector<std::string> names;
  for (int i = 0;; ++i) {
    try {
      names.push_back(option.get_validator(i)->get_name());
    } catch (const CLI::OptionNotFound&) {
      return names;
    }
  }
}

/// That `read`, which gives a reason for what it cannot read, reads it.
template <class Read>
CLI::Validator read_by(const Read& read) {
  return {[read](std::string& value) {
            std::string why_not;
            read(value, why_not);
            return why_not;
          },
          ""};
}

bool is_capital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& names) {
  return {[names](std::string& value) {
            if (std::find(names.begin(), names.end(), value) != names.end()) return std::string();
            return fmt::format("there is no '{}', {}", value, suggest_name(value, names));
          },
          "", name_with(names)};
}

CLI::Validator known(const std::vector<std::string>& names) {
  return {[](std::string&) { return std::string(); }, "", name_with(names)};
}

CLI::Validator seed_number() {
  return {[](std::string& value) {
            std::uint64_t seed = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seed);
            if (error == std::errc() && end == value.data() + value.size()) return std::string();
            return fmt::format("'{}' is no seed, a whole number from 0 to {} was wanted", value,
                               std::numeric_limits<std::uint64_t>::max());
          },
          ""};
}

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  return {[low, high](std::string& value) {
            std::int64_t number = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
            const bool is_number = error == std::errc() && end == value.data() + value.size();
            if (is_number && number >= low && number <= high) return std::string();
            return fmt::format("'{}' is no whole number from {} to {}", value, low, high);
          },
          fmt::format("INT in [{} - {}]", low, high)};
}

CLI::Validator percent_between(double low, double high) {
  return {[low, high](std::string& value) {
            double percent = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), percent);
            const bool is_number = error == std::errc() && end == value.data() + value.size();
            if (is_number && percent >= low && percent <= high) return std::string();
            return fmt::format("'{}' is no number of per cent from {} to {}", value, low, high);
          },
          fmt::format("FLOAT in [{:g} - {:g}]", low, high)};
}

CLI::Validator seconds_between(double low, double high) {
  return {[low, high](std::string& value) {
            double seconds = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
            const bool is_number = error == std::errc() && end == value.data() + value.size();
            if (is_number && seconds >= low && seconds <= high) return std::string();
            return fmt::format("'{}' is no number of seconds from {} to {}", value, low, high);
          },
          fmt::format("FLOAT in [{:g} - {:g}]", low, high)};
}

CLI::Validator a_memory_size() { return read_by(parse_memory_size); }

CLI::Validator a_shard() { return read_by(parse_shard); }

ValueHint hint_of(CLI::Option& option) {
  ValueHint hint;
  for (const std::string& name : check_names(option)) {
    if (!name.starts_with(mark)) continue;
    for (const std::string& word : words_of(std::string_view(name).substr(mark.size()))) {
      if (word.starts_with('*')) {
        hint.files = FileKind::any;
        hint.ending = word.substr(1);
      } else {
        hint.names.push_back(word);
      }
    }
  }
  const std::string shown = option.get_positional() ? option.get_name() : option.get_type_name();
  const auto dot = shown.rfind('.');
  if (shown == "DIR" || shown.starts_with("DIR_")) {
    hint.files = FileKind::folder;
  } else if (shown == "FILE" || shown == "PATH") {
    hint.files = FileKind::any;
  } else if (dot != std::string::npos && dot > 0 && is_capital(shown[dot - 1]) &&
             shown.find_first_of("=: ") == std::string::npos) {
    hint.files = FileKind::any;
    hint.ending = shown.substr(dot);
  }
  return hint;
}

}  // namespace stowage
