// SPDX-License-Identifier: Apache-2.0
// Recognises that all cores and the engine have come back to where they were, but for how often loops have been run,
// and carries that on by calculation: what follows is what followed the last time, until a loop ends.
//
// The state holds everything that decides what comes next: of each run the place in its sequence, the cycles to its
// next request, its transfers with what they need still; all times counted from now. How often the parts of a sequence
// were done is left out and compared apart: within a period, one loop of each run may have gone on, and the period can
// be repeated as long as none of them comes to its last time, because only that is asked of a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowering/simulate/core_runs.h"

namespace stowage {

class SteadyState {
 public:
  /// To be called when all events of a cycle have been taken. Looks at the run that is first among those that have not
  /// ended, where a loop of it has begun another time. Carries the runs on if it can.
  void look(CoreRuns& runs);

 private:
  struct Snapshot {
    std::size_t leader = 0;  ///< run
    std::int64_t cycle = 0;
    std::vector<std::int64_t> state;
    std::vector<std::int64_t> done;  ///< of all levels of all runs
    std::int64_t busy = 0;
    RunTotals totals;
    std::vector<std::int64_t> waiting;  ///< of each run for gets, for puts, at barriers
    std::size_t slices = 0;             ///< of the timeline, if one is written
    std::size_t transfers = 0;
    std::int64_t until_next = 0;  ///< looks until it is replaced by a newer one
    std::int64_t period = 0;      ///< looks from the last one to that
  };

  static void describe(const CoreRuns& runs, std::vector<std::int64_t>& state, std::vector<std::int64_t>& done);
  void take(Snapshot& snapshot, const CoreRuns& runs, std::size_t leader) const;
  /// How often the time since then can be repeated.
  [[nodiscard]] std::int64_t repetitions(const Snapshot& before, const CoreRuns& runs) const;
  void carry_on(const Snapshot& before, CoreRuns& runs, std::int64_t times) const;

  std::vector<Snapshot> of_level_;   ///< by level of the leader's sequence
  std::vector<std::int64_t> state_;  ///< now
  std::vector<std::int64_t> done_;
};

}  // namespace stowage
