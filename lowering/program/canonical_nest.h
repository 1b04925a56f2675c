// SPDX-License-Identifier: Apache-2.0
// Equal nests are judged, counted and emitted once.
#pragma once

#include <string>

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Equal only for nests that differ in names, notes, values of constants and in where their tensors come from, and in
/// nothing else. What does not look at those is the same of all of them: whether they are sound (lowering/verify), what
/// they move and take (lowering/time), and their kernel, statement by statement.
std::string canonical_text(const LoopNest& nest);

}  // namespace stowage
