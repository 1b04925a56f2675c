// SPDX-License-Identifier: Apache-2.0
// How often what a place sees comes again under an order of loops of which only some have more than one trip: the same
// as PlanBounds finds of a complete schedule, of many sets of tiles quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "lowering/model/group_model.h"
#include "lowering/search/schedule_space.h"

namespace stowage {

/// Orders of loops that differ in nothing that comes again.
struct AlikeOrders {
  IdVector<BufferId, LoopOrder> again;  ///< by buffer: loops around its place that do not move it
  std::vector<std::size_t> orders;      ///< their numbers, in rising order
};

class LoopPaths {
 public:
  LoopPaths(const GroupModel& model, const std::vector<LoopOrder>& orders);

  /// All orders, where these iterators have a loop and `moving` is what moves each buffer, by the first of each kind.
  /// What was asked for is remembered: a search asks the same of thousands of sets of tiles.
  const std::vector<AlikeOrders>& alike(const IdVector<IteratorId, bool>& has_loop,
                                        const IdVector<BufferId, std::set<IteratorId>>& moving);

 private:
  /// Iterators whose loops are around a buffer's place, as PlanBounds has them.
  [[nodiscard]] LoopOrder loops_around(std::size_t order, BufferId b, const IdVector<IteratorId, bool>& has_loop,
                                       const IdVector<BufferId, std::set<IteratorId>>& moving) const;
  [[nodiscard]] std::vector<AlikeOrders> found(const IdVector<IteratorId, bool>& has_loop,
                                               const IdVector<BufferId, std::set<IteratorId>>& moving) const;

  const GroupModel& model_;
  std::vector<IdVector<BufferId, LoopOrder>> paths_;           ///< by order
  IdVector<BufferId, IdVector<IteratorId, bool>> all_moving_;  ///< residents left out of account
  std::map<std::vector<bool>, std::vector<AlikeOrders>> known_;
};

/// By buffer: trips of the loops that come again, if `trips` are those by iterator on the core that makes fewest (1: no
/// loop).
IdVector<BufferId, std::int64_t> times_again(const AlikeOrders& orders, const IteratorSizes& trips);

}  // namespace stowage
