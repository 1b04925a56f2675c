// SPDX-License-Identifier: Apache-2.0
// What cores do together: transfers of a row, of a column or of the mesh, waits for them, and barriers. All cores of a
// team must come to the same ones in the same order, or some wait for ever.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowering/check/ldm_contents.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Where a core's way parts from that of the first core of its team.
struct TeamMismatch {
  int core = 0;
  Moment at;
  std::optional<Moment> other;  ///< what the other core is at
  int other_core = 0;
  std::string what;
};

class TeamEvents {
 public:
  explicit TeamEvents(const LoopNest& nest);

  /// `what`: region, slot and place of a transfer; nothing of a wait or barrier.
  void add(int core, Moment at, std::vector<std::int64_t> what);
  /// Cores of a row meet in its events and in those of the mesh, of a column the same, all cores in those of the mesh.
  [[nodiscard]] std::vector<TeamMismatch> mismatches() const;

 private:
  struct Event {
    Moment at;
    std::vector<std::int64_t> what;
  };
  /// Those that a core of a team of this space takes part in with all of the team.
  [[nodiscard]] std::vector<const Event*> events_of(int core, Space team) const;
  [[nodiscard]] std::optional<TeamMismatch> mismatch(int core, int with, Space team) const;

  const LoopNest& nest_;
  std::map<StatementId, Space> team_of_;  ///< of barriers, transfers of a team and waits for them
  std::vector<std::vector<Event>> events_;
};

}  // namespace stowage
