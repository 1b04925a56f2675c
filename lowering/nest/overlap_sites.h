// SPDX-License-Identifier: Apache-2.0
// Where in a nest of blocking transfers buffers of several slots can be moved while something else is computed
// (double_buffer.cpp).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "lowering/ir/let_values.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/ir/trip_chain.h"

namespace stowage {

/// An input that is loaded ahead.
struct Load {
  TripChain chain;
  std::set<VarId> only_here;     ///< lets that nothing but the get's region needs
  std::vector<VarId> lets;       ///< the same in program order
  std::vector<StmtPtr> padding;  ///< fills of its padding inside the loops, now of the slot that is waited for
  std::set<StatementId> fills;   ///< all fills of its padding there
  LetValues inside;              ///< of lets inside the loops
  std::set<VarId> moves_with;    ///< variables that region and origin come from
};

/// An output that is stored while others are computed.
struct Store {
  TripChain chain;
  std::vector<BufferId> buffers;  ///< that lie over each other in its slots
  StatementId first;              ///< the first statement of a trip that writes one of them
};

struct Overlap {
  std::map<BufferId, Load> loads;
  std::map<BufferId, Store> stores;
  std::map<StatementId, BufferId> transfers;  ///< their transfers → buffer

  [[nodiscard]] bool any() const { return !transfers.empty(); }
};

/// Of a nest in which uses of several slots were made already, what is not concerned.
Overlap find_overlap(const LoopNest& nest);

}  // namespace stowage
