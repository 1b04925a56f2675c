// SPDX-License-Identifier: Apache-2.0
// Which buffers have to be followed from trip to trip, and which variables decide what happens to them.
//
// Of most nests one trip of a loop tells all: what is started in it is awaited in it, and each buffer holds the box of
// the trip. A buffer is followed where that is not so: it has several slots, or a use says where its box begins, or a
// transfer is awaited elsewhere than behind it in its own block. Then slots, guards and loops around its uses are
// evaluated, at every value of the variables that decide them; all others stay symbols.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Core and loop variables that expressions come from, looking through the lets.
class Roots {
 public:
  explicit Roots(const LoopNest& nest);
  [[nodiscard]] std::set<VarId> of(const IndexExpr& e) const;

 private:
  std::map<VarId, std::set<VarId>> lets_;
};

struct Followed {
  IdVector<BufferId, bool> buffers;  ///< empty if none is followed
  std::set<VarId> variables;         ///< core and loop variables that decide; a loop over one is walked trip by trip
  std::set<StatementId> guards;      ///< those that are evaluated
  std::map<StatementId, std::set<VarId>> used_in;  ///< of a loop: those of `variables` in its trip count or inside

  [[nodiscard]] bool any() const { return !buffers.empty(); }
  [[nodiscard]] bool is_followed(BufferId buffer) const { return any() && buffers[buffer]; }
};

/// Whether the values of its variables suffice to evaluate an expression: it looks nothing up, in no table and no
/// tensor.
bool needs_variables_only(const IndexExpr& e);

/// Of a nest of sound structure.
Followed followed_in(const LoopNest& nest);

}  // namespace stowage
