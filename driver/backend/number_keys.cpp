// SPDX-License-Identifier: Apache-2.0
#include "driver/backend/number_keys.h"

#include "core/toml_reader.h"

namespace stowage {

std::optional<Numbers> read_numbers(TomlTable& table, const std::vector<NumberKey>& keys) {
  Numbers numbers;
  bool is_whole = true;
  for (const NumberKey& key : keys) {
    is_whole = table.read(key.name, numbers[key.name], key.range, Need::required) && is_whole;
  }
  if (!is_whole) return std::nullopt;
  return numbers;
}

std::int64_t own_number(const Target& target, const std::string& key) {
  return static_cast<std::int64_t>(target.own.at(key));
}

}  // namespace stowage
