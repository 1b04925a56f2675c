// SPDX-License-Identifier: Apache-2.0
// Whole numbers under keys: how a family describes its machines and its schedules where neither needs more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/index_expr.h"
#include "core/target.h"

namespace stowage {

class TomlTable;  // core/toml_reader.h

/// A number of a target or of a schedule: its key in files, and what it may be.
struct NumberKey {
  std::string name;
  Interval range;
};
using Numbers = std::map<std::string, std::int64_t>;  ///< by key

/// All of them, each of which has to be there; nothing where one is wrong or missing, which is reported.
std::optional<Numbers> read_numbers(TomlTable& table, const std::vector<NumberKey>& keys);

/// A number of a target's own keys (Backend::target_keys).
std::int64_t own_number(const Target& target, const std::string& key);

}  // namespace stowage
