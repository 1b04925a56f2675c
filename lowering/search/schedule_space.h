// SPDX-License-Identifier: Apache-2.0
// The space that planner optimal searches, of one group in one form (docs/optimal.md states it in full): over every
// grid of cores, who stays in the LDM, how many slots everything has, who loads together, how long tiles are and in
// which order their loops stand. Places of transfers, and all that lowering chooses, follow from that.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/target.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"
#include "lowering/search/core_grids.h"

namespace stowage {

/// Iterators, outermost loop first.
using LoopOrder = std::vector<IteratorId>;

/// What can be chosen over one grid.
struct GridSpace {
  CoreGrid grid;
  IteratorSizes ranges;                                             ///< on one core
  IdVector<IteratorId, std::vector<std::int64_t>> lengths;          ///< of tiles, the shortest first
  IdVector<BufferId, std::vector<std::set<IteratorId>>> residents;  ///< iterators along which it stays; the first: none
  IdVector<BufferId, std::vector<int>> slots;                       ///< fewest first
  IdVector<BufferId, std::vector<SharedBy>> sharing;                ///< by fewest first
};

/// One schedule of it.
struct SpacePoint {
  IteratorSizes sizes;
  IdVector<BufferId, std::set<IteratorId>> resident;
  IdVector<BufferId, int> slots;
  IdVector<BufferId, SharedBy> sharing;
  LoopOrder order;  ///< of those with more than one trip; not looked at where the space has no orders
};

/// Lengths that cut a range into tiles: for every number of tiles the shortest, and that made up to whole vectors and
/// to whole lines of main memory where as many tiles result. Others that cut it into as many tiles need more LDM than
/// the shortest, and move and compute no longer pieces than those.
std::vector<std::int64_t> tile_lengths(std::int64_t range, std::int64_t vector, std::int64_t line);

class ScheduleSpace {
 public:
  /// What `person` fixes is fixed. All three must outlive this.
  ScheduleSpace(const GroupModel& model, const Schedule& person, const Target& target);

  /// The space over one of the grids: those of PlanBounds::grids(), or what the person has fixed.
  [[nodiscard]] GridSpace over(CoreGrid grid) const;

  /// Every order that loops of all iterators can have: those of the output outside of those of sums, each kind in every
  /// order that keeps what earlier stages store to one store an element. Empty where there are more than `most_orders`,
  /// or where a person has fixed it: the order is algorithm 2's then, or that.
  [[nodiscard]] const std::vector<LoopOrder>& orders() const { return orders_; }

  /// For run_algorithms, with what the person has fixed.
  [[nodiscard]] Schedule schedule(const GridSpace& space, const SpacePoint& point) const;

  /// Without loops of one trip.
  [[nodiscard]] LoopOrder with_loops(const LoopOrder& order, const GridSpace& space, const IteratorSizes& sizes) const;

 private:
  void find_orders();

  const GroupModel& model_;
  const Schedule& person_;
  const Target& target_;
  std::vector<LoopOrder> orders_;
};

/// Above that algorithm 2 has the order.
inline constexpr std::size_t most_orders = 720;

}  // namespace stowage
