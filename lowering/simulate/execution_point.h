// SPDX-License-Identifier: Apache-2.0
// Where a core is in its program in a cycle of a simulation: the statement, and the trip of every loop around it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/simulate/timeline_tracks.h"

namespace stowage {

struct ExecutionPoint {
  std::optional<StatementId> statement;       ///< none during the launch and behind the end
  std::map<StatementId, std::int64_t> trips;  ///< of the loops around it, from 0; behind the end, the last ones
  friend bool operator==(const ExecutionPoint&, const ExecutionPoint&) = default;
};

/// What a core has computed and issued until then says how far it has come, however long it had to wait. `tracks` are
/// of the nest on the target; `core` is one that it uses.
ExecutionPoint execution_point(const LoopNest& nest, const Target& target, const TimelineTracks& tracks, int core,
                               std::int64_t cycle);

}  // namespace stowage
