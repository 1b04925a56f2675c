// SPDX-License-Identifier: Apache-2.0
// The first two passes of lowering, which need the schedule's terms besides the nest.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"
#include "lowering/model/tile_boxes.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {

/// Loops and computations over LDM buffers that nothing fills yet, and in what terms they were made. Buffers of inputs
/// have no origin; variables of the nest name what is in `tiles` and `boxes`.
struct BuiltNest {
  LoopNest nest;
  ReadSchedule schedule;
  IdVector<BufferId, SharedBy> sharing;
  IdVector<IteratorId, IteratorTile> tiles;     ///< the tile has a value inside the iterator's loop
  std::map<StageId, std::vector<Range>> boxes;  ///< by stage: of its spatial axes, where it is computed
};

/// The loops of the schedule with the computations at their places. Every decision whether there is a nest at all is
/// made here.
std::variant<BuiltNest, Decision> build_nest(const std::string& name, const GroupModel& model, const Schedule& schedule,
                                             const Target& target);

/// The nest with gets of the inputs' whole boxes and puts of the results, each with its wait, where the schedule has
/// their places. `model` is the one that the nest was built from.
LoopNest place_transfers(BuiltNest built, const GroupModel& model);

}  // namespace stowage
