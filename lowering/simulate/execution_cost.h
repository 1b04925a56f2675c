// SPDX-License-Identifier: Apache-2.0
// What one execution of a statement takes of its engine, from the same rates and formulas as the closed form
// (lowering/time/cost_table.h), which sums over all executions. The only file of the simulation that knows rates.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/dma_shape.h"
#include "lowering/time/inner_loop.h"

namespace stowage {

/// Parts of a cycle in which the DMA engine's work is counted: sums of them are exact, in whatever order.
inline constexpr std::int64_t parts_of_cycle = std::int64_t{1} << 16;

/// One transfer of one core.
struct TransferExecution {
  std::int64_t issue_cycles = 0;    ///< of the core, for its calls
  std::int64_t startup_cycles = 0;  ///< from then on until data move; passes beside all else
  std::int64_t engine_parts = 0;    ///< of the engine, if it moves nothing else; in parts of a cycle
  std::int64_t least_cycles = 0;    ///< in which one core can move it, however little else the engine moves
  std::int64_t operations = 0;      ///< Athread calls; 0: nothing is moved, and there is no transfer
  std::int64_t bytes = 0;
};

/// Of a nest that all statements of which have a rate (without_rate). The nest must outlive it.
class ExecutionCosts {
 public:
  ExecutionCosts(const LoopNest& nest, const Target& target);

  /// Cycles from the start of the launch until cores run; all that spawn and join take.
  [[nodiscard]] std::int64_t launch_cycles() const { return launch_cycles_; }
  /// Cycles that a team's meeting at a statement takes when its last core has come: whole ones, rounded up.
  [[nodiscard]] std::int64_t meeting_cycles(const TeamBarriers& barriers, StatementId statement) const {
    return cycles_of(meeting_cost(nest_, barriers, statement, target_));
  }
  /// Of a Dma of the nest, by the extents of its region.
  [[nodiscard]] TransferExecution transfer(const Stmt& statement, std::span<const std::int64_t> extents) const;
  /// Cycles of the core that runs a Compute, by the extents of its box: whole ones, rounded up.
  [[nodiscard]] std::int64_t compute_cycles(const Stmt& statement, std::span<const std::int64_t> extents) const;
  /// Cycles of the core that runs a Fill, by the extents of what it leaves out; without one, all is set.
  [[nodiscard]] std::int64_t fill_cycles(const Stmt& statement, std::span<const std::int64_t> kept) const;

 private:
  const LoopNest& nest_;
  const Target& target_;
  std::int64_t launch_cycles_ = 0;
  std::map<StatementId, CostFormula> formulas_;
  std::map<StatementId, DmaShape> shapes_;
  std::map<StatementId, InnerLoop> loops_;  ///< none on a target without pipelines
};

}  // namespace stowage
