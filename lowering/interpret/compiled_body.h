// SPDX-License-Identifier: Apache-2.0
// The body of a nest made ready for being run: its expressions compiled, its computations as runners.
#pragma once

#include <memory>
#include <vector>

#include "lowering/interpret/compute_runner.h"
#include "lowering/ir/compiled_index.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// A statement with its expressions.
struct CompiledStatement {
  const Stmt* statement = nullptr;
  std::vector<CompiledIndex> first;   ///< Loop: extent, Let: value, Guard: conditions, transfers and Fill: starts
  std::vector<CompiledIndex> second;  ///< transfers and Fill: extents
  CompiledIndex slot;                 ///< transfers, Fill, Wait for a slot
  std::vector<CompiledIndex> origin;  ///< transfers: of the box in the slot
  CompiledIndex sender;               ///< Broadcast
  CompiledIndex source_slot;          ///< Broadcast
  std::vector<CompiledIndex> source_origin;  ///< Broadcast
  std::unique_ptr<ComputeRunner> runner;     ///< Compute
  std::vector<CompiledStatement> body;
  bool together = false;  ///< cores of a team meet in it
};

/// Expressions find variable v in slot v.index(), the first element of buffer b in slot variables + b. The nest must
/// outlive what is made of it.
std::vector<CompiledStatement> compiled_body(const LoopNest& nest);

}  // namespace stowage
