// SPDX-License-Identifier: Apache-2.0
// How often what a place sees comes again under an order of loops of which only some have more than one trip: the same
// as PlanBounds finds of a complete schedule, of many sets of tiles quickly.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "lowering/model/group_model.h"
#include "lowering/search/schedule_space.h"

namespace stowage {

class LoopPaths {
 public:
  LoopPaths(const GroupModel& model, const std::vector<LoopOrder>& orders);

  /// By buffer: trips of the loops around its place that do not move it, if `trips` are those by iterator on the core
  /// that makes fewest (1: no loop) and `moving` what moves each buffer. `order`: its number.
  [[nodiscard]] IdVector<BufferId, std::int64_t> times_again(
      std::size_t order, const IteratorSizes& trips, const IdVector<IteratorId, bool>& has_loop,
      const IdVector<BufferId, std::set<IteratorId>>& moving) const;

 private:
  /// Iterators whose loops are around a buffer's place, as PlanBounds has them.
  [[nodiscard]] LoopOrder loops_around(std::size_t order, BufferId b, const IdVector<IteratorId, bool>& has_loop,
                                       const IdVector<BufferId, std::set<IteratorId>>& moving) const;

  const GroupModel& model_;
  std::vector<IdVector<BufferId, LoopOrder>> paths_;           ///< by order
  IdVector<BufferId, IdVector<IteratorId, bool>> all_moving_;  ///< residents left out of account
};

}  // namespace stowage
