// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// The same statements with ids in program order, whatever order they were made in.
Block renumbered(const Block& block);

/// The same of a nest, whose variables besides go to other places of LoopNest::variables: variable v to places[v].
LoopNest renumbered(LoopNest nest, const std::vector<std::size_t>& places);

}  // namespace stowage
