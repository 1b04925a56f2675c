// SPDX-License-Identifier: Apache-2.0
// A sweep makes many jobs of one in a batch file: every combination of the values of some keys, or the values taken
// side by side. [job.sweep] names the keys as a job or --set would:
//
//     [job.sweep]
//     fusion  = ["greedy", "exact"]
//     "target.ldm.bytes" = { from = 16384, to = 131072, factor = 2 }
//     exclude = [{ fusion = "exact", "target.ldm.bytes" = 16384 }]
//
// `combine = "zip"` takes the first values of all keys together, then the second ones; without it the last key varies
// fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/toml_reader.h"

namespace stowage {

/// A key of a job with the value that a sweep gives it: a string, a number or a truth value.
struct SweptValue {
  std::string key;
  TomlValue value;
  std::string toml;  ///< the value as TOML text
};

using SweptValues = std::vector<SweptValue>;

/// What a key of a sweep can have.
struct SweptAxis {
  std::string key;
  std::vector<TomlValue> values;
};

/// Of one job the values of all swept keys. Jobs of one sweep share its values, and each knows its number only: a sweep
/// may have a million.
class Combination {
 public:
  Combination() = default;  ///< of a job that is not swept
  Combination(const SweptValues& values);
  Combination(std::initializer_list<SweptValue> values) : Combination(SweptValues(values)) {}
  Combination(std::shared_ptr<const std::vector<SweptAxis>> axes, bool zipped, std::size_t number);

  [[nodiscard]] bool empty() const { return axes_ == nullptr; }
  [[nodiscard]] SweptValues values() const;  ///< in the order of the keys
  /// Null where that key is not swept.
  [[nodiscard]] const TomlValue* value(std::string_view key) const;

 private:
  /// The value that a key has here.
  [[nodiscard]] const TomlValue& value_at(std::size_t axis) const;

  std::shared_ptr<const std::vector<SweptAxis>> axes_;
  std::uint32_t number_ = 0;
  bool zipped_ = true;
};

/// A value by itself as TOML; nothing of an array, a table or what is no finite number.
std::optional<std::string> single_text(const TomlValue& value);

/// More jobs than this are a mistake, not a batch.
inline constexpr std::size_t max_swept_jobs = 1'000'000;

/// The combinations of a table `sweep`, in order, those left out that `exclude` names; nothing where it is wrong, which
/// is reported (codes: no-values, wrong-range, unequal-lengths, too-many-jobs, nothing-left, unknown-key, …).
std::optional<std::vector<Combination>> read_sweep(TomlTable& table, Diagnostics& diagnostics);

/// The name of a job of a sweep: each {key} in `name` is the key's value; without any the values follow the name, with
/// a '-' before each. Of a path the file's name without its extension is meant.
std::string swept_name(const std::string& name, const SweptValues& values);

/// `values` as a table of a batch file's job: "target.…" stands in `set`, "dim.…" in `dim`.
std::string swept_table(const SweptValues& values);

}  // namespace stowage
