// SPDX-License-Identifier: Apache-2.0
// What a template's `where` asks of one value of an operator:
//
//   strides      = [1, 1]                     equal; a single number stands for every element of a list
//   kernel_shape = { min = 2, max = 5 }       a range; for a list, of every element
//   shape        = [1, "*", { max = 56 }, 56] element by element, "*" for any
//   group        = { one_of = [1, 2] }, type = { not = "int8" }
//
// The entries of one table must all hold. Numbers are equal if they are so in single precision, which is what models
// hold.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/toml_reader.h"

namespace stowage {

/// A value of an operator: an attribute or a property.
using PropertyValue = std::variant<bool, double, std::string, std::vector<double>>;
enum class ValueKind : std::uint8_t { truth, number, text, numbers };

struct Condition {
  enum class Form : std::uint8_t { any, equal, at_least, at_most, one_of, not_, all_of, list };
  Form form = Form::any;
  std::variant<bool, double, std::string> value = false;  ///< equal, at_least, at_most
  std::vector<Condition> parts;                           ///< one_of, not_ (one), all_of, list
};

bool holds(const Condition& condition, const PropertyValue& value);

/// In words: "[1,1]", "2 to 5", "at least 2", "1 or 2", "not 3", "anything".
std::string to_text(const Condition& condition);
std::string to_text(const PropertyValue& value);

/// A kind of value: for texts with the words that there are (empty: any), for numbers with what they are like.
struct ValueForm {
  ValueKind kind = ValueKind::number;
  std::vector<std::string> words;
  bool whole = false;           ///< only whole numbers
  std::optional<double> least;  ///< no number is less
};

/// False if no value of this form meets the condition, of lists none with so many elements where that is given. True
/// where there are too many cases to try.
bool can_hold(const Condition& condition, const ValueForm& form, std::optional<std::size_t> length = std::nullopt);

/// Reads the condition on a value of this form; every mistake is reported at the key.
/// Codes: wrong-condition, empty-range, unknown-key, unknown-word.
std::optional<Condition> read_condition(TomlTable& table, const std::string& key, const ValueForm& form);

}  // namespace stowage
