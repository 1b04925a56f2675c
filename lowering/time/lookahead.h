// SPDX-License-Identifier: Apache-2.0
// Gets that a trip starts for the next one, as if every trip loaded its own.
//
// How often which extents occur in trips 1 to N of nested loops is tedious to tell where the numbers of a trip come
// from divisions: all loops depend on each other. It is what occurs in trips 0 to N without the first one, and of that
// the loops are independent. The get of the first trip is a statement of its own.
#pragma once

#include <map>

#include "lowering/ir/loop_nest.h"

namespace stowage {

struct WithoutLookahead {
  LoopNest nest;  ///< the same statements
  std::map<StatementId, StatementId>
      first_of;  ///< gets that load for trips 0 to N there → the get that loads for trip 0
};

/// Gets that are not recognised stay what they are.
WithoutLookahead without_lookahead(const LoopNest& nest);

}  // namespace stowage
