// SPDX-License-Identifier: Apache-2.0
#include "fusion/templates/condition.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {
namespace {

using Form = Condition::Form;
using Scalar = decltype(Condition::value);

bool same_number(double a, double b) {
  if (a == b) return true;
  const bool fractions = std::trunc(a) != a || std::trunc(b) != b;
  return fractions && static_cast<float>(a) == static_cast<float>(b);
}

bool holds_scalar(const Condition& condition, const Scalar& value) {
  if (condition.value.index() != value.index()) return false;
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return condition.form == Form::equal && condition.value == value;
  const double wanted = std::get<double>(condition.value);
  if (condition.form == Form::equal) return same_number(wanted, *number);
  return condition.form == Form::at_least ? *number >= wanted : *number <= wanted;
}

std::string condition_number(double number) {
  return std::trunc(number) == number && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                 : fmt::to_string(number);
}

struct ScalarText {
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  std::string operator()(double number) const { return condition_number(number); }
  std::string operator()(const std::string& text) const { return text; }
};

std::vector<std::string> texts_of(const std::vector<Condition>& parts) {
  std::vector<std::string> texts;
  for (const Condition& part : parts) texts.push_back(to_text(part));
  return texts;
}

/// "2 to 5", "2 to 5 and not 3".
std::string all_text(const std::vector<Condition>& parts, std::vector<std::string> texts) {
  const auto limit = [&](Form form) {
    return std::find_if(parts.begin(), parts.end(), [&](const Condition& part) { return part.form == form; });
  };
  const auto low = limit(Form::at_least);
  const auto high = limit(Form::at_most);
  if (low != parts.end() && high != parts.end()) {
    texts[static_cast<std::size_t>(low - parts.begin())] =
        fmt::format("{} to {}", std::visit(ScalarText{}, low->value), std::visit(ScalarText{}, high->value));
    texts.erase(texts.begin() + (high - parts.begin()));
  }
  return fmt::format("{}", fmt::join(texts, " and "));
}

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::truth: return "true or false";
    case ValueKind::number: return "a number";
    case ValueKind::text: return "a word";
    case ValueKind::numbers: return "a list of numbers";
  }
  fail_check("unknown kind of value");
}

/// Reads one condition; mistakes are reported at the key that holds it.
class ConditionReader {
 public:
  ConditionReader(TomlTable& table, const std::string& key, const ValueForm& form)
      : table_(table), key_(key), form_(form) {}

  Condition read(const TomlValue& value, ValueKind kind) {
    if (const auto* entries = std::get_if<TomlValue::Table>(&value.is)) return read_table(*entries, kind);
    if (const auto* elements = std::get_if<TomlValue::Array>(&value.is)) return read_list(*elements, kind);
    return read_scalar(value, kind);
  }

  [[nodiscard]] bool is_right() const { return right_; }

 private:
  Condition wrong(const std::string& code, const std::string& message, const std::string& remedy = {}) {
    table_.error(code, key_, message, remedy);
    right_ = false;
    return {};
  }

  Condition read_scalar(const TomlValue& value, ValueKind kind) {
    Condition condition{Form::equal, false, {}};
    const auto* text = std::get_if<std::string>(&value.is);
    if (text != nullptr && *text == "*") return {};
    if (const auto* truth = std::get_if<bool>(&value.is); truth != nullptr && kind == ValueKind::truth) {
      condition.value = *truth;
      return condition;
    }
    if (text != nullptr && kind == ValueKind::text) {
      if (!form_.words.empty() && std::find(form_.words.begin(), form_.words.end(), *text) == form_.words.end()) {
        return wrong("unknown-word", fmt::format("'{}' is never '{}'", key_, *text), suggest_name(*text, form_.words));
      }
      condition.value = *text;
      return condition;
    }
    if (const auto number = number_of(value); number && (kind == ValueKind::number || kind == ValueKind::numbers)) {
      condition.value = *number;
      return condition;
    }
    return wrong("wrong-condition", fmt::format("'{}' is {}, this can never be equal to it", key_, name_of(kind)));
  }

  Condition read_list(const TomlValue::Array& elements, ValueKind kind) {
    if (kind != ValueKind::numbers) {
      return wrong("wrong-condition", fmt::format("'{}' is {}, not a list", key_, name_of(kind)),
                   fmt::format("one of several values is wanted like this: {} = {{ one_of = [...] }}", key_));
    }
    Condition condition{Form::list, false, {}};
    for (const TomlValue& element : elements) condition.parts.push_back(read(element, ValueKind::number));
    return condition;
  }

  Condition read_table(const TomlValue::Table& entries, ValueKind kind) {
    static const std::vector<std::string> known = {"max", "min", "not", "one_of"};
    if (entries.empty()) return wrong("wrong-condition", fmt::format("the condition on '{}' is empty", key_));
    Condition all{Form::all_of, false, {}};
    std::optional<double> low;
    std::optional<double> high;
    for (const auto& [name, value] : entries) {
      if (name == "min" || name == "max") {
        const auto limit = number_of(value);
        if (!limit || (kind != ValueKind::number && kind != ValueKind::numbers)) {
          return wrong("wrong-condition",
                       fmt::format("'{}' of '{}' is a number, and so is what it limits", name, key_));
        }
        (name == "min" ? low : high) = limit;
        all.parts.push_back({name == "min" ? Form::at_least : Form::at_most, *limit, {}});
      } else if (name == "not") {
        all.parts.push_back({Form::not_, false, {read(value, kind)}});
      } else if (name == "one_of") {
        const auto* choices = std::get_if<TomlValue::Array>(&value.is);
        if (choices == nullptr || choices->empty()) {
          return wrong("wrong-condition", fmt::format("'one_of' of '{}' is a list of at least one value", key_));
        }
        Condition one{Form::one_of, false, {}};
        for (const TomlValue& choice : *choices) one.parts.push_back(read(choice, kind));
        all.parts.push_back(std::move(one));
      } else {
        return wrong("unknown-key", fmt::format("unknown key '{}' in the condition on '{}'", name, key_),
                     suggest_name(name, known));
      }
    }
    if (low && high && *low > *high) {
      return wrong("empty-range", fmt::format("'{}' from {} to {} holds no number", key_, condition_number(*low),
                                              condition_number(*high)));
    }
    return all.parts.size() == 1 ? std::move(all.parts.front()) : all;
  }

  static std::optional<double> number_of(const TomlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value.is)) return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&value.is); number != nullptr && !std::isnan(*number)) return *number;
    return std::nullopt;
  }

  TomlTable& table_;
  const std::string& key_;
  const ValueForm& form_;
  bool right_ = true;
};

/// What a condition names: between two of its numbers it does not change.
struct Mentioned {
  std::set<double> numbers;
  std::set<std::string> texts;
  std::set<std::size_t> lengths;

  void add(const Condition& condition) {
    if (condition.form == Form::list) lengths.insert(condition.parts.size());
    if (const auto* number = std::get_if<double>(&condition.value)) numbers.insert(*number);
    if (const auto* text = std::get_if<std::string>(&condition.value)) texts.insert(*text);
    for (const Condition& part : condition.parts) add(part);
  }
};

/// Numbers of a form such that a condition that holds for any holds for one of these.
std::vector<double> telling_numbers(const Mentioned& mentioned, const ValueForm& form) {
  std::set<double> numbers = {form.least.value_or(0)};
  for (const double number : mentioned.numbers) {
    numbers.insert({std::floor(number), std::ceil(number), std::floor(number) - 1, std::ceil(number) + 1});
    if (form.whole) continue;
    numbers.insert(number);
    const auto next = mentioned.numbers.upper_bound(number);
    if (next != mentioned.numbers.end()) numbers.insert(number + (*next - number) / 2);
  }
  std::vector<double> telling;
  for (const double number : numbers) {
    if (!form.least || number >= *form.least) telling.push_back(number);
  }
  return telling;
}

/// Tries every list of these numbers.
bool can_hold_list(const Condition& condition, const std::vector<double>& numbers, std::size_t length) {
  constexpr double max_lists = 100'000;
  if (std::pow(static_cast<double>(numbers.size()), static_cast<double>(length)) > max_lists) return true;
  std::vector<std::size_t> digits(length, 0);
  for (;;) {
    std::vector<double> list;
    for (const std::size_t digit : digits) list.push_back(numbers[digit]);
    if (holds(condition, PropertyValue(std::move(list)))) return true;
    std::size_t at = 0;
    while (at < length && ++digits[at] == numbers.size()) digits[at++] = 0;
    if (at == length) return false;
  }
}

}  // namespace

bool can_hold(const Condition& condition, const ValueForm& form, std::optional<std::size_t> length) {
  Mentioned mentioned;
  mentioned.add(condition);
  switch (form.kind) {
    case ValueKind::truth: return holds(condition, true) || holds(condition, false);
    case ValueKind::text: {
      std::vector<std::string> words = form.words;
      if (words.empty()) {
        words.assign(mentioned.texts.begin(), mentioned.texts.end());
        words.emplace_back("\n");  // one that nobody mentions
      }
      return std::any_of(words.begin(), words.end(),
                         [&](const std::string& word) { return holds(condition, PropertyValue(word)); });
    }
    case ValueKind::number: {
      const std::vector<double> numbers = telling_numbers(mentioned, form);
      return std::any_of(numbers.begin(), numbers.end(),
                         [&](double number) { return holds(condition, PropertyValue(number)); });
    }
    case ValueKind::numbers: break;
  }
  std::set<std::size_t> lengths = mentioned.lengths;
  lengths.insert(lengths.empty() ? 1 : *lengths.rbegin() + 1);
  if (length) lengths = {*length};
  const std::vector<double> numbers = telling_numbers(mentioned, form);
  return std::any_of(lengths.begin(), lengths.end(),
                     [&](std::size_t elements) { return can_hold_list(condition, numbers, elements); });
}

bool holds(const Condition& condition, const PropertyValue& value) {
  const auto part_holds = [&](const Condition& part) { return holds(part, value); };
  switch (condition.form) {
    case Form::any: return true;
    case Form::one_of: return std::any_of(condition.parts.begin(), condition.parts.end(), part_holds);
    case Form::not_: return std::none_of(condition.parts.begin(), condition.parts.end(), part_holds);
    case Form::all_of: return std::all_of(condition.parts.begin(), condition.parts.end(), part_holds);
    case Form::list: {
      const auto* elements = std::get_if<std::vector<double>>(&value);
      return elements != nullptr &&
             std::equal(condition.parts.begin(), condition.parts.end(), elements->begin(), elements->end(),
                        [](const Condition& part, double element) { return holds(part, PropertyValue(element)); });
    }
    case Form::equal:
    case Form::at_least:
    case Form::at_most: break;
  }
  if (const auto* elements = std::get_if<std::vector<double>>(&value)) {
    return std::all_of(elements->begin(), elements->end(),
                       [&](double element) { return holds_scalar(condition, element); });
  }
  if (const auto* truth = std::get_if<bool>(&value)) return holds_scalar(condition, *truth);
  if (const auto* number = std::get_if<double>(&value)) return holds_scalar(condition, *number);
  return holds_scalar(condition, std::get<std::string>(value));
}

std::string to_text(const Condition& condition) {
  const std::vector<std::string> parts = texts_of(condition.parts);
  switch (condition.form) {
    case Form::any: return "anything";
    case Form::equal: return std::visit(ScalarText{}, condition.value);
    case Form::at_least: return "at least " + std::visit(ScalarText{}, condition.value);
    case Form::at_most: return "at most " + std::visit(ScalarText{}, condition.value);
    case Form::one_of: return fmt::format("{}", fmt::join(parts, " or "));
    case Form::not_: return "not " + parts.front();
    case Form::all_of: return all_text(condition.parts, parts);
    case Form::list: return fmt::format("[{}]", fmt::join(parts, ","));
  }
  fail_check("unknown form of condition");
}

std::string to_text(const PropertyValue& value) {
  const auto* elements = std::get_if<std::vector<double>>(&value);
  if (elements == nullptr) {
    if (const auto* truth = std::get_if<bool>(&value)) return ScalarText{}(*truth);
    if (const auto* number = std::get_if<double>(&value)) return ScalarText{}(*number);
    return std::get<std::string>(value);
  }
  std::vector<std::string> texts;
  for (const double element : *elements) texts.push_back(condition_number(element));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

std::optional<Condition> read_condition(TomlTable& table, const std::string& key, const ValueForm& form) {
  TomlValue value;
  if (!table.read(key, value)) return std::nullopt;
  ConditionReader reader(table, key, form);
  Condition condition = reader.read(value, form.kind);
  if (!reader.is_right()) return std::nullopt;
  return condition;
}

}  // namespace stowage
