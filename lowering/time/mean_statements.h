// SPDX-License-Identifier: Apache-2.0
// The statements of a nest with what each execution takes on the mean, for the walk of mean_core.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "lowering/ir/compiled_index.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/mean_engine.h"

namespace stowage {

/// A statement with what one execution takes.
struct MeanStatement {
  enum class Kind : std::uint8_t { work, transfer, await_row, await_slot, let, guard, loop };
  Kind kind = Kind::work;
  double cycles = 0;  ///< work: of the core; others: of the barrier before a transfer or behind a wait
  std::optional<std::size_t> slides_along;  ///< work: variable of the loop whose first trip takes longer
  double first = 0;                         ///< work: the cycles of that one
  double issue = 0;                         ///< transfer: cycles of its calls
  double startup = 0;
  bool of_team = false;                ///< transfer: one core's for several
  MeanTransfer transfer;               ///< transfer
  CostId row;                          ///< await_row
  SlotId first_slot;                   ///< transfer, await_slot: of the buffer
  CompiledIndex value;                 ///< transfer, await_slot: the slot; let: its value
  std::size_t variable = 0;            ///< let, loop
  std::vector<CompiledIndex> guarded;  ///< guard that decides whether something is transferred
  std::int64_t trips = 0;              ///< loop
  std::vector<MeanStatement> body;
};

/// Those that do something, work that follows work put together. `table` says what is filled, but not yet what is
/// hidden.
std::vector<MeanStatement> mean_statements(const LoopNest& nest, const NestCounts& counts, const CostTable& table);

}  // namespace stowage
