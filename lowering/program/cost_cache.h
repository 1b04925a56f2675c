// SPDX-License-Identifier: Apache-2.0
// Costs of groups on disk.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "fusion/groups/group_cost.h"
#include "lowering/program/record_file.h"

namespace stowage {

/// The costs that hold under one set of conditions (target, planner, version …).
class CostCache {
 public:
  /// As of a RecordFile: `folder` may not exist yet; an empty one is a cache that forgets.
  CostCache(std::filesystem::path folder, const std::string& conditions);

  /// By key, a hash128_of().
  [[nodiscard]] const GroupCost::Answer* find(const std::string& key) const;
  void add(const std::string& key, GroupCost::Answer answer);
  /// Puts what was added on disk, together with what others have put there meanwhile.
  void save() { file_.save(); }

 private:
  RecordFile file_;
  std::map<std::string, GroupCost::Answer> answers_;
};

}  // namespace stowage
