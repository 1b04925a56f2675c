// SPDX-License-Identifier: Apache-2.0
// A complete schedule in the terms of the group that it belongs to: numbers by iterator, loop and buffer.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {

struct ReadSchedule {
  std::vector<ParallelSplit> parallel;
  IteratorSizes ranges;              ///< of every iterator on one core
  IteratorSizes sizes;               ///< buffer size of every iterator
  IdVector<IteratorId, bool> whole;  ///< no outer loop
  std::vector<OuterLoop> order;
  std::vector<std::size_t>
      main;  ///< loops of the main chain (spatial ones, then the main stage's reductions), indices into order
  std::size_t spatial_loops = 0;  ///< length of the chain's spatial part
  Residents residents;
  IdVector<BufferId, std::size_t> depth;  ///< loops of its path around its place

  [[nodiscard]] const OuterLoop& loop(std::size_t l) const { return order[l]; }
};

/// Refuses (rule "schedule") what is not complete or names what there is not.
std::variant<ReadSchedule, Decision> read_schedule(const GroupModel& model, const Schedule& schedule);

}  // namespace stowage
