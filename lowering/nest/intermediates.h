// SPDX-License-Identifier: Apache-2.0
// When what lies outside of an intermediate can be in its buffer too.
#pragma once

#include <optional>

#include "core/decision.h"
#include "lowering/model/group_model.h"

namespace stowage {

/// Why a buffer of an intermediate could not serve all that look outside of it, as they want different things there, or
/// would be computed at places that a table does not have; nothing where it can.
std::optional<Decision> check_intermediates(const GroupModel& model);

}  // namespace stowage
