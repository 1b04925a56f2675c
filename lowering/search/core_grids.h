// SPDX-License-Identifier: Apache-2.0
// The grids that a group's output can be cut into, one part a core, each with a bound from below of what any plan over
// it can cost. A search that plans the grids in the order of their bounds may stop at the first bound that reaches the
// best plan, and has then found the best of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/target.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"
#include "lowering/search/least_compute.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {

struct CoreGrid {
  std::vector<ParallelSplit> parallel;   ///< those of one part left out
  IdVector<BufferId, SharedBy> sharing;  ///< by whom it can be loaded together at most
  std::int64_t least_cycles = 0;         ///< no plan over this grid whose transfers block takes fewer on the target
  std::int64_t least_overlapped = 0;     ///< no plan at all over this grid takes fewer
};

/// Splits that are tried, from those of least cycles on, where the planner's makes a transfer unaligned.
inline constexpr std::size_t max_tried_splits = 1000;

/// What tiles of certain sizes, or of these and all smaller ones, make of a grid at best.
struct GridTiling {
  IdVector<BufferId, std::int64_t> again;  ///< its place sees everything it needs so many times
  IdVector<BufferId, std::vector<std::int64_t>> extents;
  IdVector<BufferId, int> slots;
  IteratorSizes sizes;               ///< of tiles
  IdVector<BufferId, bool> meeting;  ///< of what is loaded together: in all of them, so that cores meet for it
};

class LeastCost;

/// An index into the numbers of parts of each spatial iterator.
using GridChoice = IdVector<IteratorId, std::size_t>;

/// The bounds over one grid, for a search that asks for those of many tilings.
class GridBounds {
 public:
  /// No schedule over the grid whose tiles are no larger, come no less often and have no more slots takes fewer cycles.
  [[nodiscard]] std::int64_t least_cycles(const GridTiling& tiling, const IdVector<BufferId, SharedBy>& sharing) const;
  /// PlanBounds::least_cycles of a schedule over the grid.
  [[nodiscard]] std::int64_t least_cycles(const ReadSchedule& schedule, const IdVector<BufferId, int>& slots,
                                          const IdVector<BufferId, SharedBy>& sharing) const;

 private:
  friend class PlanBounds;
  const LeastCost* least_ = nullptr;
  std::optional<GridChoice> choice_;          ///< none of a grid that PlanBounds does not have
  IdVector<StageId, StagePoints> computing_;  ///< on one core
};

/// The bounds of one group on one target, which must both outlive this.
class PlanBounds {
 public:
  /// Of plans that begin so.
  PlanBounds(const GroupModel& model, const Target& target, LaunchedBy launch = LaunchedBy::spawn);
  ~PlanBounds();
  PlanBounds(const PlanBounds&) = delete;
  PlanBounds& operator=(const PlanBounds&) = delete;

  /// See core_grids.
  [[nodiscard]] std::vector<CoreGrid> grids() const;

  /// No plan of this schedule takes fewer cycles. To what its grid needs comes what its sizes and order make of it:
  /// what is loaded or computed again in each iteration of a loop that has nothing to do with it, blocks that are no
  /// longer than a buffer, and transfers that fill no more than one. 0 where nothing is known. `slots` by buffer (none
  /// given: one each): transfers of several may be hidden. `sharing` by buffer, none given: every core for itself.
  [[nodiscard]] std::int64_t least_cycles(const ReadSchedule& schedule, const IdVector<BufferId, int>& slots = {},
                                          const IdVector<BufferId, SharedBy>& sharing = {}) const;

  /// Those of every schedule over a grid; they must not outlive this.
  [[nodiscard]] GridBounds over(const std::vector<ParallelSplit>& parallel) const;

 private:
  std::unique_ptr<const LeastCost> least_;
};

/// Every grid of at most target.cores.count parts that cuts spatial iterators into parts of equal size (the last one
/// may be smaller, and where something is loaded together the last ones empty), those of least cycles first; among
/// equals the higher iterators are cut first, as published. The highest iterator counts most of a core's number, and on
/// a target whose cores can load together also in other orders if these let them load other inputs together.
///
/// The bound counts what no buffer sizes and no loop order can avoid: every core loads what its part of the output
/// needs once, in blocks no longer than that is contiguous in main memory, by at least as many transfers as fill its
/// scratchpad, but counting of buffers whose transfers may start together (lowering/time/concurrent_transfers.h) only
/// the one that has most; stores its part; and computes it, at the rate of the time model. What cores load together
/// counts once for them, and no less than what one core can take.
///
/// Of tilings it counts besides that short tiles compute more slowly, the calls of what each core moves for itself, and
/// how often cores meet for what they load together.
///
/// Where transfers block, these add up. Where those of buffers with several slots run beside the computation, what is
/// hidden of them is at most what they start and move, H <= S + D, and at most what is computed and filled, the calls I
/// that they themselves are issued by and their start-up, H <= C + F + I + S (lowering/time/overlap.h). So with the
/// transfers and meetings B that block, a plan takes B + S + D + I + C + F - H >= B + max(D, C + F + I) >=
/// B + max(D, C + I), and as each of the four is at least what is counted here of it, so is that at least the same of
/// what is counted.
inline std::vector<CoreGrid> core_grids(const GroupModel& model, const Target& target) {
  return PlanBounds(model, target).grids();
}

}  // namespace stowage
