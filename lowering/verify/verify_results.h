// SPDX-License-Identifier: Apache-2.0
// Whether a nest writes what its stages define.
//
// verify() keeps a nest from touching what it must not. That is enough for a nest that lowering has just made; of one
// that comes as text it leaves open whether a sum is complete. Together with verify() this shows it, by induction over
// the statements: what is read of a buffer is what its stage or the tensor in memory has there.
#pragma once

#include <optional>
#include <string>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Of a nest that verify() lets pass: the first reason why what it writes may not be what its stages define, or
/// nothing. The rules are those of nests as they are lowered today (docs/ir.md lists them); a nest that computes the
/// same in another way may be refused.
std::optional<std::string> verify_results(const LoopNest& nest, const Target& target);

}  // namespace stowage
