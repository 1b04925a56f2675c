// SPDX-License-Identifier: Apache-2.0
// What a simulation saw, event by event, for pictures and traces. Cycles count from the launch.
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

struct Timeline {
  /// What a core does for a while. One after another, a core's slices do not overlap.
  struct Slice {
    enum class Kind : std::uint8_t { compute, issue, wait_for_get, wait_for_put, wait_at_barrier };
    Kind kind = Kind::compute;
    int core = 0;
    int statement = 0;  ///< Stmt::id; of a wait that of the transfer that ends it
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  struct Transfer {
    int core = 0;
    int statement = 0;       ///< Stmt::id
    std::int64_t begun = 0;  ///< when the core starts it
    std::int64_t moves = 0;  ///< when its data begin to move
    std::int64_t ended = 0;
    std::int64_t bytes = 0;
    std::int64_t engine_parts = 0;  ///< of the DMA engine, which it shares with all that move meanwhile
    int wait = -1;                  ///< in which its core waits for it, index into slices; none if it need not wait
  };

  std::vector<Slice> slices;
  std::vector<Transfer> transfers;  ///< in the order of their ends
};

}  // namespace stowage
