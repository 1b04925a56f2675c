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
// so that no barrier is needed besides. A broadcast from LDM to LDM is made in the same way, where its cores wait for
// it.
//
// The emitted code has them, and what a barrier costs is counted and simulated, at the same places.
#pragma once

#include <map>
#include <optional>

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// What goes from the LDM of one core of a team into those of all of it, register by register.
struct SentBox {
  BufferUse from, to;
  std::optional<Broadcast> broadcast = std::nullopt;  ///< none: what the team's first core has loaded, the whole box
};

struct TeamBarriers {
  std::map<StatementId, Space> before;     ///< of gets of a team: a barrier of that team
  std::map<StatementId, Space> after;      ///< of waits for them: the same, or what is sent; of waits for broadcasts
  std::map<StatementId, Space> waits_of;   ///< all waits for gets of a team: that team
  std::map<StatementId, SentBox> sent_at;  ///< of waits in `after`, for a column's get or for a broadcast

  [[nodiscard]] bool any() const { return !waits_of.empty() || !after.empty(); }
  /// Whether a wait is for a broadcast, which no core has started before.
  [[nodiscard]] bool awaits_broadcast(StatementId statement) const {
    const auto found = sent_at.find(statement);
    return found != sent_at.end() && found->second.broadcast.has_value();
  }
  /// Whose barriers stand at a statement that has some.
  [[nodiscard]] Space team_at(StatementId statement) const {
    const auto found = before.find(statement);
    return found != before.end() ? found->second : after.at(statement);
  }
};

TeamBarriers team_barriers(const LoopNest& nest);

}  // namespace stowage
