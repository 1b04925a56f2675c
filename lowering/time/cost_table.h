// SPDX-License-Identifier: Apache-2.0
// What every statement of a nest costs, as numbers with their formula: a row for how its kernel begins, one for every
// transfer, computation and fill, and for the barriers at a transfer of several cores or a wait for one. How much of it
// passes beside other things evaluators say, which add up what is left (lowering/time/overlap.h, time_model.h). A
// transfer's cost is that of all cores, which share the bandwidth; what a core does by itself counts on the core that
// does most of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/ir/team_barriers.h"
#include "lowering/time/counts.h"

namespace stowage {

enum class CostKind : std::uint8_t { launch, get, barrier, broadcast, compute, fill, put };

/// Spawn and join of all cores, or a barrier of all of them behind the kernel before.
struct LaunchCost {
  LaunchedBy by = LaunchedBy::spawn;
  double seconds = 0;  ///< of spawn and join
  double clock_hz = 0;
  double barrier_cycles = 0;
};

/// Bytes that move in blocks of one size, and how fast all cores together move such blocks.
struct MovedBlocks {
  std::int64_t block_bytes = 0;
  std::int64_t bytes = 0;
  double bytes_per_second = 0;
};

/// The bytes of all cores at the bandwidth of their blocks (or, where that is longer, those of the core that moves most
/// in all at what one core reaches), and what each transfer and call of that core takes besides.
struct TransferCost {
  DmaDirection direction = DmaDirection::get;
  std::vector<MovedBlocks> moved;
  double one_core_seconds = 0;  ///< that it takes longer because the transfers of one core reach no more
  double busiest_seconds = 0;   ///< of the bytes of the busiest core at what one core reaches; 0 without such a limit
  std::int64_t transfers_of_busiest = 0;
  std::int64_t calls_of_busiest = 0;
  double more_calls_cycles = 0;  ///< for which a core with more calls is busy when that one has done
  double startup_cycles = 0;     ///< of a transfer
  double issue_cycles = 0;       ///< of a call
  bool by_lines = false;         ///< whether the bandwidth follows from lines, or from a curve by block size
  double clock_hz = 0;
  std::int64_t filled_cycles = 0;  ///< in which other transfers start, or move beside one_core_seconds
  std::int64_t hidden_cycles = 0;  ///< of the rest, that pass while something is computed or other calls are issued
};

/// Cores that load together wait for each other.
struct BarrierCost {
  std::int64_t barriers_of_busiest = 0;
  double cycles = 0;  ///< of each, when the last core has come
};

/// What one core of each column or row has goes to all of it, while no core of it does anything else.
struct RegisterBroadcastCost {
  Space team = Space::column;
  std::int64_t broadcasts = 0;  ///< of a column or row
  std::int64_t registers = 0;   ///< in all of them
  double start_cycles = 0;      ///< of a broadcast, when the last core has come
  double register_cycles = 0;
};

/// The operations of the core that takes longest for all computations and fills (lowering/time/core_costs.h), at the
/// rate of the emitted inner loop, or at the target's, where that does not depend on instructions.
struct ComputeCost {
  std::string stage;
  Compute::Part part = Compute::Part::map;
  ComputeForm form = ComputeForm::scalar;
  /// At the rate of vectors: the form has them, and every read is contiguous along the lanes or gathered at a cost that
  /// is known.
  bool vectors = false;
  std::int64_t points_of_busiest = 0;
  std::int64_t operations = 0;  ///< at a point
  double operations_per_cycle = 0;
  double peak = 0;  ///< operations per cycle at most; 0 where a loop's rate is the target's, whatever its instructions
};

/// Elements that are set to padding, or to what a reduction starts from, on that core.
struct FillCost {
  std::int64_t elements_of_busiest = 0;
  std::int64_t stores_of_busiest = 0;  ///< of vectors or of elements, one a cycle
};

using CostFormula = std::variant<LaunchCost, TransferCost, BarrierCost, RegisterBroadcastCost, ComputeCost, FillCost>;

struct Cost {
  std::optional<StatementId> statement;  ///< none for how the kernel begins
  CostFormula formula;
};

/// The first statement that no rate of the target prices, a broadcast that is none by registers or a get of a column
/// where none is known, as "no-rate: statement 7: …"; nothing of a nest that has a cost table.
std::optional<std::string> without_rate(const LoopNest& nest, const Target& target);

/// Rows: launch, gets, barriers, broadcasts, computations, fills, puts; each in program order.
using CostTable = IdVector<CostId, Cost>;

/// Of one broadcast of a box down a column to the same place in all LDMs, on a target that has them.
RegisterBroadcastCost column_broadcast_cost(std::int64_t bytes, const Target& target);
/// Of one meeting of a team at a get or a wait: of its barrier, or of what is sent down a column or along a row.
CostFormula meeting_cost(const LoopNest& nest, const TeamBarriers& barriers, StatementId id, const Target& target);
LaunchCost launch_cost(LaunchedBy launch, const Target& target);

struct CoreCosts;  // lowering/time/core_costs.h

/// Of a nest without such a statement.
CostTable cost_table(const LoopNest& nest, const NestCounts& counts, const Target& target);
/// The same, where it is known what the cores compute and fill.
CostTable cost_table(const LoopNest& nest, const NestCounts& counts, const CoreCosts& cores, const Target& target);

CostKind kind_of(const CostFormula& formula);
/// "launch", "dma get", "barrier", "broadcast", "compute", "fill", "dma put".
std::string_view name_of(CostKind kind);

/// Whole cycles, rounded up; at most 2^50 for each part, so that they may be added up without overflow. Of a transfer
/// those that are not hidden.
std::int64_t cycles_of(const CostFormula& formula);

/// Of barriers or broadcasts by registers, not rounded; 0 of what is neither.
double meeting_cycles(const CostFormula& formula);

/// What a transfer's data take for themselves, without start-up.
double moving_seconds(const TransferCost& cost);

/// Of a transfer's cycles those in which the busiest core issues its calls. Other transfers move meanwhile.
double issuing_cycles(const TransferCost& cost);

/// Of all cores; 0 for what moves none.
std::int64_t bytes_of(const CostFormula& formula);

/// The name of the kind, and which computation it is: "compute conv", "compute conv finish".
std::string name_of(const CostFormula& formula);
/// With the numbers put in.
std::string formula_text(const CostFormula& formula);
/// Where the numbers come from.
std::string source_of(const CostFormula& formula);

}  // namespace stowage
