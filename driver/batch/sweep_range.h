// SPDX-License-Identifier: Apache-2.0
// The range of one key by itself, as options of a command give it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/batch/sweep.h"

namespace stowage {

/// Numbers in TOML's syntax; of `step` and `factor` one is empty.
struct RangeText {
  std::string from;
  std::string to;
  std::string step;
  std::string factor;
};

/// The values of one key, ascending, from `from` to `to` by adding `step` or multiplying with `factor`, as a range of a
/// sweep has them. What is wrong is reported with the options as place (codes: wrong-type, wrong-range, toml-syntax).
Result<std::vector<SweptValue>> swept_range(const std::string& key, const RangeText& range, Diagnostics& diagnostics);

/// A number of a sweep, whole or not; nothing of another value.
std::optional<double> number_of(const TomlValue& value);

}  // namespace stowage
