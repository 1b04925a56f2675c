// SPDX-License-Identifier: Apache-2.0
// What goes with a sum in the same registers. The accumulators of a register block (ComputeForm::register_block) may
// begin at the number that a fill in front of the sum puts into its buffer, and what is computed in place of the sum
// behind it, a bias or a bound say, may be computed before they are stored. Statements that are carried so are marked:
// the fill by Fill::in_registers, the computations by their form, register_block. A mark changes nothing of what the
// nest means, as all stand where they would without; it says what is emitted and what that takes.
#pragma once

#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

struct RegisterChain {
  const Stmt* start = nullptr;     ///< the fill; none if it is stored
  const Stmt* sum = nullptr;       ///< the computation in register blocks
  const Loop* around = nullptr;    ///< in whose body the fill stands, if that is a loop's
  std::vector<const Loop*> trips;  ///< loops around the sum that the others stand outside of, outermost first
  std::vector<const Stmt*> ends;   ///< computations in place of the sum, in order
};

/// The chains that a nest may have, those of statements that are not marked too. Of each sum in register blocks that
/// has a fill of its whole buffer in front of it. The loops between the two are entered for sure, have trips that do
/// not depend on data, and have the sum as the last of their statements; nothing between them uses the buffer's bytes.
/// The ends stand right behind, each over the box of the sum, and read what is in its place and what moves along the
/// lanes element by element or not at all.
std::vector<RegisterChain> possible_register_chains(const LoopNest& nest);

/// Of these what is marked. Pointers are to the nest's statements.
std::vector<RegisterChain> register_chains(const LoopNest& nest);

/// Whether a statement's mark says that it is carried in registers.
bool is_marked_as_in_registers(const Stmt& statement);

}  // namespace stowage
