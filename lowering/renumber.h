// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lowering/loop_nest.h"

namespace stowage {

/// The same statements with ids in program order, whatever order they were made in.
Block renumbered(const Block& block);

}  // namespace stowage
