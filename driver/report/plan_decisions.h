// SPDX-License-Identifier: Apache-2.0
// What algorithms 1 and 2 decided on the way to a group's plan, out of the trace's records.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/trace.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// One loop as the innermost of those that had no place yet (algorithm 2).
struct LoopCandidate {
  std::string loop;
  std::vector<std::int64_t> transfers;  ///< on one core, by LoopRound::tensors
  std::int64_t total = 0;               ///< transfers of all of them
  std::int64_t operations = 0;          ///< computed inside the group; less of them comes first
  bool chosen = false;
  bool barred = false;  ///< iterates over the output while a sum is left, so it may not be innermost
};
struct LoopRound {
  std::vector<std::string> tensors;  ///< those not yet placed that are transferred
  std::vector<LoopCandidate> candidates;
};
/// Takes a record of algorithm 2 into a round; true where the record ends the round.
bool follow(LoopRound& round, const TraceRecord& record);

/// The records that led to a schedule: of planners that try several, those of the run that gave it.
struct PlanDecisions {
  std::vector<LoopRound> rounds;    ///< of algorithm 2, innermost place first
  std::optional<LdmState> sizes;    ///< at the end of algorithm 1
  std::optional<LdmState> refused;  ///< with the doubling that did not fit
};
/// `sizes` are the schedule's by iterator. Records that speak of other iterators or buffers than the group has, as in a
/// trace that was damaged, and records of text decide nothing.
PlanDecisions decisions_of(const GroupModel& model, const Schedule& schedule, const IteratorSizes& sizes,
                           std::span<const TraceRecord> records);

}  // namespace stowage
