// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/stores.h"

#include "core/decision_rules.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace stowage {
namespace {

/// The iterator with which an axis moves one to one; nothing where tiles of the axis overlap or leave gaps.
std::optional<IteratorId> iterator_along(const GroupModel& model, StageId stage, VarId axis) {
  const AxisDemand& demand = model.demands[stage][axis];
  if (!demand.exact || !(demand.window == Interval{0, 0})) return std::nullopt;
  for (const VarId variable : variables_of(demand.tile)) {
    const IteratorId id(variable.index());
    const ModelIterator& iterator = model.iterators[id];
    const Axis& of_stage = model.list->stages[stage].axes[axis.index()];
    const bool is_axis = demand.tile.is_variable(variable) && iterator.spatial && iterator.extent == of_stage.extent;
    return is_axis ? std::optional(id) : std::nullopt;
  }
  return std::nullopt;
}

/// Tiles of the root make up tiles of the stage.
std::optional<Decision> check_tiles(const GroupModel& model, const ModelBuffer& stored) {
  const Stage& stage = model.list->stages[stored.stage];
  std::set<IteratorId> seen;
  for (const VarId axis : stage.spatial_axes()) {
    if (stage.axes[axis.index()].extent == 1) continue;
    const auto iterator = iterator_along(model, stored.stage, axis);
    if (iterator && seen.insert(*iterator).second) continue;
    return Decision::refuse(schedule_rule,
                            fmt::format("{} is stored, but its readers want other parts of it than tiles "
                                        "side by side along {}",
                                        stored.name, stage.axes[axis.index()].name));
  }
  if (!stored.padding) return std::nullopt;
  return Decision::refuse(schedule_rule, fmt::format("{} is stored, but a reader looks outside of it", stored.name));
}

/// The main stage and its tail are complete inside all spatial loops, earlier ones at their place.
std::vector<std::size_t> loops_around(const GroupModel& model, const ReadSchedule& schedule, BufferId b) {
  const ModelBuffer& stored = model.buffers[b];
  if (stored.stage == model.main || model.in_tail[stored.stage]) {
    const auto outer = std::span(schedule.main).first(schedule.spatial_loops);
    return {outer.begin(), outer.end()};
  }
  std::vector<std::size_t> around = path_of(model, schedule.order, stored);
  around.resize(schedule.depth[b]);
  return around;
}

}  // namespace

std::optional<Decision> check_stores(const GroupModel& model, const ReadSchedule& schedule) {
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& stored = model.buffers[b];
    if (stored.kind != ModelBuffer::Kind::output || stored.stage == model.root) continue;
    if (auto refused = check_tiles(model, stored)) return refused;
    const std::set<IteratorId> own = stored.moved_by;
    for (const ParallelSplit& split : schedule.parallel) {
      if (split.parts == 1 || own.contains(model.iterator_named(split.iterator).value())) continue;
      return Decision::refuse(schedule_rule,
                              fmt::format("parallel: {} is split over cores, each of which would store the "
                                          "same elements of {}",
                                          split.iterator, stored.name));
    }
    for (const std::size_t l : loops_around(model, schedule, b)) {
      if (own.contains(schedule.loop(l).iterator)) continue;
      return Decision::refuse(schedule_rule,
                              fmt::format("order: the loop {} stands outside of one that moves {}, which would be "
                                          "stored again in each of its trips",
                                          schedule.loop(l).name, stored.name));
    }
  }
  return std::nullopt;
}

}  // namespace stowage
