// SPDX-License-Identifier: Apache-2.0
// Costs of groups on disk. A cache may be deleted at any time, shared by processes and killed at any moment: a file is
// replaced by renaming, every record has a checksum, and what is damaged is as if it were not there. Nothing that goes
// wrong with it is an error; then costs are computed again.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "fusion/groups/group_cost.h"

namespace stowage {

/// 128 bits of hash as 32 hexadecimal digits.
std::string hash128_of(std::string_view text);

/// The records that hold under one set of conditions (target, planner, version …), in one file.
class CostCache {
 public:
  /// `folder` may not exist yet; an empty one is a cache that forgets. `conditions` is text of any length.
  CostCache(std::filesystem::path folder, const std::string& conditions);

  [[nodiscard]] const GroupCost::Answer* find(const std::string& key) const;
  void add(const std::string& key, GroupCost::Answer answer);
  /// Puts what was added on disk, together with what others have put there meanwhile.
  void save();

 private:
  std::filesystem::path file_;
  std::map<std::string, GroupCost::Answer> records_;
  bool changed_ = false;
};

}  // namespace stowage
