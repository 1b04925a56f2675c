// SPDX-License-Identifier: Apache-2.0
// Whether what the cores of a row exchange can go through their registers.
#pragma once

#include <optional>

#include "core/decision.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Refuses (rule "schedule") a nest with a broadcast that cannot go register by register
/// (lowering/ir/register_broadcasts.h): of tiles that are not all of the same size, or of no whole registers.
std::optional<Decision> check_exchange(const LoopNest& nest, const Target& target);

}  // namespace stowage
