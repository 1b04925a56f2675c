// SPDX-License-Identifier: Apache-2.0
// Gets that a trip starts for the next one, or one further on, as if every trip loaded its own.
//
// How often which extents occur in trips 1 to N of nested loops is tedious to tell where the numbers of a trip come
// from divisions: all loops depend on each other. It is what occurs in trips 0 to N without the first one, and of that
// the loops are independent. The gets of the first trips are statements of their own.
#pragma once

#include <map>
#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

struct WithoutLookahead {
  LoopNest nest;  ///< the same statements
  /// Gets that load for trips 0 to N there → the gets that load for the first of them.
  std::map<StatementId, std::vector<StatementId>> first_of;
};

/// Gets that are not recognised stay what they are.
WithoutLookahead without_lookahead(const LoopNest& nest);

}  // namespace stowage
