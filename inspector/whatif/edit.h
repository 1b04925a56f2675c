// SPDX-License-Identifier: Apache-2.0
// What a person changed of a plan, as a value: undo keeps values, a snapshot is one, the command line reproduces one
// (job_form.h).
// An edit holds only what is fixed; what it leaves out the planner fills.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/stage.h"
#include "core/target.h"
#include "driver/session/session.h"
#include "inspector/whatif/choices.h"
#include "lowering/model/schedule.h"

namespace stowage::inspector {

struct PlanEdit {
  /// Operators of groups that are other than the plan's, in order: all groups of every step that one of them touches,
  /// but those that are steps of the plan.
  std::vector<std::vector<std::string>> groups;
  std::map<std::string, Schedule> schedules;  ///< by fused operator's name; without an entry: as the plan has it
  std::map<std::string, std::string> target;  ///< key of the target's file → value as TOML
  [[nodiscard]] bool empty() const { return groups.empty() && schedules.empty() && target.empty(); }
  friend bool operator==(const PlanEdit&, const PlanEdit&) = default;
};

/// What can be set of a group, with the values of one complete schedule.
struct IteratorControl {
  std::string name;
  std::int64_t extent = 1;
  std::int64_t range = 1;  ///< on one core: the most that can be buffered
  bool spatial = true;     ///< can be split over cores
  std::int64_t parts = 1;
  std::int64_t buffer = 1;
  std::string loop;  ///< of its outer loop, "" where it is buffered whole
};
struct LoopControl {
  std::string name;
  std::int64_t trips = 1;
};
struct PlaceControl {
  std::string tensor;
  bool written = false;
  std::vector<std::string> loops;  ///< that its transfer can stand inside, outermost first; "" is outside of all
  std::string loop;
};
struct GroupControls {
  std::vector<IteratorControl> iterators;
  std::vector<LoopControl> loops;  ///< outermost first
  std::vector<PlaceControl> places;
  std::vector<ChoiceControl> choices;
};
/// `given`: the stages as the graph defines them; `formed`: as the complete schedule has them. `fixed`: what of it is.
GroupControls group_controls(const StageList& given, const StageList& formed, const Schedule& complete,
                             const Schedule& fixed, const Target& target);

/// A row of the nest as it is dragged about, in the order in which things happen: a loop, a get below the loop that it
/// stands inside, a put behind what that loop holds.
struct ScheduleRow {
  bool is_loop = true;
  std::string name;  ///< of the loop or of the tensor
  int depth = 0;     ///< loops around it
  friend bool operator==(const ScheduleRow&, const ScheduleRow&) = default;
};
std::vector<ScheduleRow> schedule_rows(const GroupControls& controls);

// Edits: the schedule that fixes one thing more, or one less.

/// A fixed order and fixed places follow the loop's name, which depends on the size ("y" for one element, "yo"
/// otherwise, none for the whole range), and with a fixed order the other sizes are fixed too; what stood inside a loop
/// that vanishes is free.
Schedule with_buffer(Schedule fixed, const GroupControls& controls, const std::string& iterator, std::int64_t size);
/// The whole grid is fixed then; an iterator of one part is not split.
Schedule with_parts(Schedule fixed, const GroupControls& controls, const std::string& iterator, std::int64_t parts);
/// Puts row `from` before row `to` (as many rows as there are: behind the last). A loop changes the order, a tensor
/// its place: it stands as far inside as the row above. Unchanged where that means nothing.
Schedule with_row_moved(Schedule fixed, const GroupControls& controls, std::size_t from, std::size_t to);
/// The row moved past the loop above (-1) or below (1) it.
Schedule with_row_stepped(Schedule fixed, const GroupControls& controls, std::size_t row, int direction);

/// A plan's target with an edit's settings; mistakes are those of a target's file.
Result<Target> edited_target(const Compilation& plan, const PlanEdit& edit, Diagnostics& diagnostics);
/// The points of the bandwidth table, each so many times as fast, as the TOML value of "dma.bandwidth".
std::string scaled_bandwidth(const Target& target, double factor);

}  // namespace stowage::inspector
