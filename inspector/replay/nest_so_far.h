// SPDX-License-Identifier: Apache-2.0
// The loop nest of a fused operator while it is still being planned: outer loops, places of transfers that are known,
// and how often each runs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inspector/replay/replay.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage::inspector {

struct NestState {
  std::vector<ParallelSplit> parallel;  ///< empty before it is known, and on one core
  IteratorSizes ranges;                 ///< of one core
  IteratorSizes sizes;                  ///< buffered elements; empty before algorithm 1
  Residents residents;                  ///< of the finished plan
  std::vector<OuterLoop> loops;         ///< outermost first
  std::size_t open = 0;                 ///< so many of the loops, from the outermost, have no place yet
  bool ordering = false;                ///< loops without a place are shown as such
  IdVector<BufferId, std::optional<std::size_t>> depth;  ///< loops of its path around its transfer
  std::string changed;                                   ///< loop or tensor that this step is about
};

/// "on each of 64 cores: y in 64 parts"; empty for one core.
std::string cores_line(const std::vector<ParallelSplit>& parallel);
/// The loops around a buffer's transfer, outermost first.
std::vector<OuterLoop> loops_around(const GroupModel& model, const NestState& state, BufferId buffer);
/// Iterations of these loops, on one core.
std::int64_t iterations_around(const GroupModel& model, const NestState& state, BufferId buffer);
std::vector<ReplayLine> nest_so_far(const GroupModel& model, const NestState& state);

}  // namespace stowage::inspector
