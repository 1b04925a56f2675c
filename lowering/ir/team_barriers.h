// SPDX-License-Identifier: Apache-2.0
// Where the cores of a team have to wait for each other, so that what one core does for all of them is done neither
// too early nor seen too early. A get of a team is one core's: it may start when no other core needs what is in the
// LDM where it goes, and only that core is told when it has ended.
//
// So there is a barrier before every such get and one behind every wait for it, but for those that have one close
// enough:
//  - before a get, if the buffer was not used since the last barrier of the team;
//  - behind a wait, if nothing but waits stand between it and the next wait of the team in the same block.
// In a loop that loads ahead (wait; get of the next trip; compute) one barrier a trip is left, that of the wait.
//
// Of a column the first core loads into its own LDM, and behind every wait all of its cores meet to take that from it,
// so that no barrier is needed besides.
//
// The emitted code has them, and what a barrier costs is counted and simulated, at the same places.
#pragma once

#include <map>

#include "lowering/ir/loop_nest.h"

namespace stowage {

struct TeamBarriers {
  std::map<int, Space> before;         ///< by Stmt::id of gets of a team: a barrier of that team
  std::map<int, Space> after;          ///< by Stmt::id of waits for them: the same, or a column's broadcast
  std::map<int, Space> waits_of;       ///< by Stmt::id, all waits for gets of a team: that team
  std::map<int, BufferUse> broadcast;  ///< by Stmt::id of waits in `after`, of a column: the box that goes down it

  [[nodiscard]] bool any() const { return !waits_of.empty(); }
  /// Whose barriers stand at a statement that has some.
  [[nodiscard]] Space team_at(int statement) const {
    const auto found = before.find(statement);
    return found != before.end() ? found->second : after.at(statement);
  }
};

TeamBarriers team_barriers(const LoopNest& nest);

}  // namespace stowage
