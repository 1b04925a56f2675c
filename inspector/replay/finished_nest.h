// SPDX-License-Identifier: Apache-2.0
// The loop nest of a finished plan in the replay's words: what nest_so_far draws while it is still being planned.
#pragma once

#include <optional>
#include <vector>

#include "inspector/replay/replay.h"
#include "lowering/model/group_model.h"

namespace stowage::inspector {

/// Every loop, transfer, initialisation, padding and computation of the plan's nest; names that it binds and waits are
/// left out. `model` is that of the plan's stages. The line of statement `lit` counts as changed, if there is one.
std::vector<ReplayLine> finished_nest(const Plan& plan, const GroupModel& model, std::optional<StatementId> lit);

}  // namespace stowage::inspector
