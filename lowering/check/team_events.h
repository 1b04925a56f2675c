// SPDX-License-Identifier: Apache-2.0
// What cores do together: transfers of a row or of the mesh, waits for them, and barriers. All cores of a team must
// come to the same ones in the same order, or some wait for ever.
#pragma once

#include <optional>
#include <set>
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
  /// Cores of a row meet in all events, all cores in those of the mesh.
  [[nodiscard]] std::vector<TeamMismatch> mismatches() const;

 private:
  struct Event {
    Moment at;
    std::vector<std::int64_t> what;
  };
  [[nodiscard]] std::vector<const Event*> events_of(int core, bool of_all) const;
  [[nodiscard]] std::optional<TeamMismatch> mismatch(int core, int with, bool of_all) const;

  const LoopNest& nest_;
  std::set<int> of_all_;  ///< statements: barriers, transfers of the mesh and waits for them
  std::vector<std::vector<Event>> events_;
};

}  // namespace stowage
