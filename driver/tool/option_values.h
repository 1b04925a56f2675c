// SPDX-License-Identifier: Apache-2.0
// What may stand for the value of an option. CLI11 keeps with an option what checks it and nothing else of ours, so the
// names that completions offer travel with the check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/manual/outline.h"

namespace CLI {
class Option;
class Validator;
}  // namespace CLI

namespace stowage {

/// Takes one of these names only.
CLI::Validator one_of(const std::vector<std::string>& names);
/// Takes any value; these are known beforehand, "*.toml" is any file with that ending.
CLI::Validator known(const std::vector<std::string>& names);

/// A seed: CLI11 itself would wrap -1 and cut 10^20 to what 64 bits hold.
CLI::Validator seed_number();
/// CLI11 itself would say of "abc", too, that it is not in the range.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);
CLI::Validator percent_between(double low, double high);
CLI::Validator seconds_between(double low, double high);
CLI::Validator a_memory_size();
CLI::Validator a_shard();

/// Of the names of its checks, and of what stands for it in help: DIR is a folder, FILE.toml a file with that ending.
ValueHint hint_of(CLI::Option& option);

}  // namespace stowage
