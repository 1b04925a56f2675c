// SPDX-License-Identifier: Apache-2.0
// Equal groups are planned once. Two groups are equal if their stages differ in names, in the values of constants and
// in where their tensors come from, and in nothing else: no planner looks at those.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/stage.h"

namespace stowage {

struct CanonicalStages {
  StageList stages;                  ///< with names by number, without values
  std::string text;                  ///< equal for equal groups, and only for them
  std::vector<std::string> tensors;  ///< the names that tensors, axes and stages had, by number
  std::vector<std::string> axes;
  std::vector<std::string> names;
};

CanonicalStages canonical_stages(StageList list);

/// A message about canonical stages with the names that the original ones have.
std::string with_original_names(const std::string& message, const CanonicalStages& canonical);

}  // namespace stowage
