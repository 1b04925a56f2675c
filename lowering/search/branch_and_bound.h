// SPDX-License-Identifier: Apache-2.0
// The schedule of fewest cycles of a space (lowering/search/schedule_space.h), and how few none of it can go below.
//
// A node is a set of schedules: a grid, the first so many decisions about residents, slots and sharing made, and of
// every iterator an interval of its tile lengths. Its bound is that of the best that any of them could have: of what is
// not decided the choice that moves least and hides most, of lengths the longest, and the order of loops that brings
// things again least often; while what must fit the LDM is the shortest lengths with nothing undecided resident or in
// two slots. Lengths that do not fit beside the shortest of the others are cut off first. The node of the least bound
// is divided next: by the next decision, then by halving the interval whose ends are furthest apart. Where all is
// decided its orders are planned, those of the least bounds first.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>

#include "core/target.h"
#include "lowering/model/certificate.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// When a search ends although it has proved nothing: none of it depends on the machine.
struct SearchLimits {
  std::int64_t planned = 1'000;   ///< schedules that are planned to the end
  std::int64_t bounded = 25'000;  ///< sets of schedules whose bound is computed
};

struct SearchedSpace {
  std::optional<Schedule> best;  ///< complete; nothing where the start is no worse than all that was found
  Certificate certificate;
};

/// What the search begins with: a plan of so many cycles, and cycles from which on none is looked for.
struct SearchStart {
  std::int64_t cycles = 0;
  std::int64_t to_beat = 0;
  bool unaligned = false;  ///< transfers of narrow elements may be unaligned, as those of that plan are
};

SearchedSpace search_space(const std::string& subject, const GroupModel& model, const Schedule& person,
                           const Target& target, const SearchStart& start, const SearchLimits& limits,
                           const std::stop_token& over);

/// The plan of a schedule of a group, as far as there is one that the DMA can carry out and that takes less than
/// `enough` cycles.
struct TriedSchedule {
  Schedule complete;
  std::int64_t cycles = 0;
};
std::optional<TriedSchedule> try_schedule(const std::string& subject, const GroupModel& model, const Schedule& fixed,
                                          const Target& target, bool may_be_unaligned,
                                          std::int64_t enough = std::numeric_limits<std::int64_t>::max());

}  // namespace stowage
