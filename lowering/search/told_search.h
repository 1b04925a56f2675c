// SPDX-License-Identifier: Apache-2.0
// What a search tells the trace: the splits that it looked at and why others were left out, the steps of its climbs,
// and its choice beside the published plan.
#pragma once

#include <cstddef>
#include <optional>

#include "lowering/search/core_splits.h"
#include "lowering/search/tried_plans.h"

namespace stowage {

struct SplitsLookedAt {
  std::size_t count = 0;       ///< from that of least bound on
  std::size_t work_again = 0;  ///< of them, left out as the group computes too much again
};

/// Of plans made since TriedPlans::count_anew.
void tell_splits(const SearchTask& task, const TriedPlans& plans, const CoreSplits& splits,
                 const std::optional<Tried>& published, const SplitsLookedAt& looked_at);

/// A step of a climb: the sizes, loop order and slots that it changes.
void tell_step(const SearchTask& task, const Tried& from, const Tried& to);
/// The buffers that have several slots now.
void tell_slots(const SearchTask& task, const Tried& from, const Tried& to);
/// Where a climb has come to, with so many neighbours planned.
void tell_climbed(const SearchTask& task, const Tried& to, int planned);

/// `published`: what planner swtvm makes of the group, if it can.
void tell_choice(const SearchTask& task, const TriedPlans& plans, const std::optional<Tried>& published,
                 const Tried& chosen);

}  // namespace stowage
