// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// First and last value of an index over a box, both included, as expressions of the nest.
struct Hull {
  IndexExpr low;
  IndexExpr high;
};

/// Values of an index of the stage's accesses over the box of a computation.
Hull hull_of(const LoopNest& nest, const IndexExpr& index, const Compute& compute);

}  // namespace stowage
