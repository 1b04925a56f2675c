// SPDX-License-Identifier: Apache-2.0
// What an edit changes, in words: an entry for every group that it touches and one for the target, so that edits are
// seen whatever group is chosen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspector/state/loaded_plan.h"
#include "inspector/whatif/edit.h"

namespace stowage::inspector {

struct EditEntry {
  std::string name;        ///< "conv2", "ip1 | relu1", "target: cores.count"
  std::string details;     ///< "conv2: buffer xx 4"
  std::optional<OpId> op;  ///< of the plan, in what is edited; none: the target
};
std::vector<EditEntry> edit_entries(const LoadedPlan& plan, const PlanEdit& edit);

/// "the edits of conv2, ip1 | relu1 and the target"; empty for no edits.
std::string edits_text(const LoadedPlan& plan, const PlanEdit& edit);

}  // namespace stowage::inspector
