// SPDX-License-Identifier: Apache-2.0
// Nested loops whose trips are counted together: what slots of a buffer take turns along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lowering/ir/enclosing.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Loops, outermost first, one directly inside the other but for lets, transfers and computations.
struct TripChain {
  std::vector<Loop> loops;  ///< without their bodies; all but the outermost with a constant number of trips
  std::size_t block = 0;    ///< number of statements around the outermost
  StatementId outermost;

  [[nodiscard]] VarId innermost() const { return loops.back().variable; }
  [[nodiscard]] bool has(VarId variable) const;
  /// Trips of all loops inside of the one at `position`.
  [[nodiscard]] std::int64_t trips_inside(std::size_t position) const;
  /// The number of a trip among all of them, from 0.
  [[nodiscard]] IndexExpr trip() const;
  [[nodiscard]] IndexExpr trips() const;
  /// The slot of the trip that comes so many behind the present one.
  [[nodiscard]] IndexExpr slot(std::int64_t slots, std::int64_t ahead) const;
  /// What the loops' variables are in the trip that comes so many behind the present one; of the outermost its number
  /// of trips or more where there is none.
  [[nodiscard]] std::map<VarId, IndexExpr> ahead(std::int64_t trips) const;
  /// What they are in a trip by its number.
  [[nodiscard]] std::map<VarId, std::int64_t> at(std::int64_t trip) const;
};

/// The loops around a statement, from some one on inwards, of which it stands in a guard that asks whether there is a
/// trip so many ahead of the present one: the smallest such chain.
std::optional<TripChain> chain_ahead(const Enclosing& around, const IndexExpr& asked, std::int64_t ahead);

}  // namespace stowage
