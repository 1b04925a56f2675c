// SPDX-License-Identifier: Apache-2.0
// Predicted DMA of a nest, statement by statement, summed over all cores, in closed form. The emulation must count
// exactly the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lowering/ir/loop_nest.h"
#include "lowering/time/dma_shape.h"

namespace stowage {

struct DmaTotals {
  std::int64_t transfers = 0;   ///< fillings or emptyings of the buffer (a no-op is none)
  std::int64_t operations = 0;  ///< Athread calls
  std::int64_t bytes = 0;
  std::map<std::int64_t, std::int64_t> operations_by_block;  ///< block bytes → operations, for the time model
  std::map<std::int64_t, std::int64_t> bytes_by_block;       ///< block bytes → bytes
  friend bool operator==(const DmaTotals&, const DmaTotals&) = default;
};

/// Executions of a statement by the extents of its box.
using BoxCounts = std::map<std::vector<std::int64_t>, std::int64_t>;

struct ComputeTotals {
  std::int64_t points = 0;             ///< points of the box, over all cores and executions
  std::int64_t points_of_busiest = 0;  ///< of the core that has most
  /// Boxes with points, as cores have them, each different set of them once: how long they take is for a rate to say,
  /// as short rows are slow.
  std::vector<BoxCounts> boxes;
  std::vector<std::size_t> boxes_of_core;  ///< by core: which of them
};

using ComputeCounts = std::map<StatementId, ComputeTotals>;  ///< by statement id, every Compute statement

/// Of what is stored: a sum that begins in registers fills nothing. Of a sliding window what is moved.
struct FillTotals {
  std::int64_t executions = 0;           ///< that set an element, over all cores
  std::int64_t elements = 0;             ///< that are set, over all cores
  std::int64_t elements_of_busiest = 0;  ///< of the core that sets most
  std::vector<std::int64_t> elements_of_core;
};

using FillCounts = std::map<StatementId, FillTotals>;  ///< by statement id, every Fill statement

/// A core whose calls take longer than those of the one that moves most bytes: at a border, say, where boxes are
/// shorter and move block by block.
struct CallingCore {
  std::map<StatementId, std::int64_t> operations;  ///< by statement id, every Dma statement
  std::map<StatementId, std::int64_t> points;      ///< by statement id, every Compute statement
};

/// Where cores of a team wait for each other, at one statement: a barrier, or a box that goes from one LDM into those
/// of all (lowering/ir/team_barriers.h).
struct TeamMeetings {
  std::int64_t times = 0;
  std::int64_t registers = 0;  ///< that are sent in them all
  friend bool operator==(const TeamMeetings&, const TeamMeetings&) = default;
};

struct NestCounts {
  std::map<StatementId, DmaTotals> dma;  ///< by statement id, every Dma statement
  ComputeCounts compute;
  FillCounts fill;
  /// By statement id, every get of a team and every wait at which its cores meet: of the core that has most.
  std::map<StatementId, TeamMeetings> meetings;
  std::map<StatementId, DmaTotals> dma_of_busiest_core;  ///< the same for the core that moves most bytes in all
  std::optional<CallingCore> most_calls;  ///< the core that issues most calls in all, if it is not that one
};

NestCounts predict_counts(const LoopNest& nest);

/// Of these counts those of the computations, for who may go no further (least_cycles of lowering/time/time_model.h).
ComputeCounts count_computations(const LoopNest& nest);
/// All of them, with those of the computations as that has counted them.
NestCounts predict_counts(const LoopNest& nest, ComputeCounts computations);

/// Of one plan, all statements together.
DmaTotals dma_totals(const NestCounts& counts);
DmaShape shape_of(const LoopNest& nest, const Dma& dma);
/// Extents of its region that are the same in all executions.
std::vector<std::optional<std::int64_t>> known_extents(const Dma& dma);

}  // namespace stowage
