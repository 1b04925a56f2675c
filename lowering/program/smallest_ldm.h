// SPDX-License-Identifier: Apache-2.0
// How much scratchpad a group would need that lowering refuses. Nothing is estimated: every size is tried by planning
// the group again, so that one that is named really lifts the refusal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/target.h"

namespace stowage {

/// The least `ldm.bytes` with which `allowed` holds, which it does not now: in steps of the alignment, up to 1024 times
/// of what there is; with one step less it is still refused. Nothing if more LDM does not help.
std::optional<std::int64_t> smallest_ldm(const Target& target, const std::function<bool(const Target&)>& allowed);

}  // namespace stowage
