// SPDX-License-Identifier: Apache-2.0
// Random programs: an operator, a machine, and a schedule of which every dimension is drawn
// (lowering/model/schedule.h).
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "lowering/model/copied_inputs.h"
#include "lowering/model/lane_blocks.h"
#include "lowering/model/merged_axes.h"
#include "lowering/model/split_reductions.h"
#include "lowering/model/stage_form.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "resident_draw.h"
#include "sharing_draw.h"
#include "slots_draw.h"

namespace stowage::fixtures {

struct DrawnProgram {
  std::string text;
  StageList stages;            ///< as the schedule is of
  StageList defined;           ///< the same with all of its inputs
  std::vector<Tensor> values;  ///< of these
  Plan plan;
  bool searched = false;   ///< by the default planner, nothing fixed
  bool reordered = false;  ///< loops and places of transfers were drawn too

  /// The values of those that are no constants, in order.
  [[nodiscard]] std::vector<Tensor> network_inputs() const {
    std::vector<Tensor> kept;
    std::size_t next = 0;
    for (const StageTensorId t : defined.tensors.ids()) {
      if (defined.tensors[t].role != TensorRole::input) continue;
      const Tensor& value = values[next++];
      if (stages.tensors[t].role == TensorRole::input) kept.push_back(value);
    }
    return kept;
  }
  /// What its nest is run with.
  [[nodiscard]] std::map<StageTensorId, Tensor> inputs() const {
    std::map<StageTensorId, Tensor> made;
    std::size_t next = 0;
    for (const StageTensorId t : plan.nest.stages.tensors.ids()) {
      const StageTensor& tensor = plan.nest.stages.tensors[t];
      if (tensor.role == TensorRole::input) made[t] = values[next++].reshaped(tensor.shape);
      if (tensor.role == TensorRole::constant) made[t] = *tensor.value;
    }
    return made;
  }
};

/// One with a mesh, whose cores load together and meet at barriers, or one as OperatorDraw has it. `emulated`: with the
/// only vectors that there is C for.
inline Target drawn_target(OperatorDraw& draw, bool emulated) {
  Target target = draw.machine();
  if (draw.between(0, 3) > 0) target = with_mesh(draw, std::move(target));
  if (!emulated && draw.coin()) target.cores.vector_lanes = 2;
  target.main_memory.line_bytes = 128;
  target.dma.alignment = draw.coin() ? 4 : 1;
  target.name = "drawn";
  return target;
}

namespace drawing {

/// All inputs but the first as constants, which can be packed.
inline StageList with_weights(StageList stages, const std::vector<Tensor>& values) {
  std::size_t input = 0;
  for (StageTensor& tensor : stages.tensors) {
    if (tensor.role != TensorRole::input) continue;
    const Tensor& value = values[input];
    if (input++ == 0) continue;
    tensor.role = TensorRole::constant;
    tensor.value = value;
  }
  return stages;
}

/// A reduction that the cores of a row may split, where there is one.
inline SplitReductions random_split(OperatorDraw& draw, const StageList& stages, const Target& target) {
  if (!sends_along_rows(target) || target.cores.count % target.cores.mesh_columns != 0) return {};
  const GroupModel model = model_of_no_target(stages);
  std::vector<SplitReductions> possible;
  for (const IteratorId i : model.iterators.ids()) {
    const SplitReductions split = {{model.iterators[i].name, target.cores.mesh_columns}};
    if (std::holds_alternative<StageList>(split_reductions(stages, split))) possible.push_back(split);
  }
  if (possible.empty()) return {};
  return possible[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(possible.size()) - 1))];
}

inline StageForm random_form(OperatorDraw& draw, const StageList& stages, const Target& target) {
  StageForm form;
  if (draw.between(0, 3) > 0) {
    form.lanes = possible_lane_blocks(stages, {}, target);
    if (draw.coin()) form.lanes = narrow_lane_blocks(stages, form.lanes, target);
  }
  const auto blocked = block_lanes(stages, form.lanes);
  check(std::holds_alternative<StageList>(blocked), "blocks that are possible can be made");
  if (draw.coin()) form.merged = mergeable_axes(std::get<StageList>(blocked), {});
  if (draw.coin()) form.copied = possible_copied_inputs(stages);
  form.folded = draw.coin();
  const auto formed = in_form(stages, form);
  if (draw.coin() && std::holds_alternative<StageList>(formed))
    form.split = random_split(draw, std::get<StageList>(formed), target);
  return form;
}

/// Another grid of those that there are, also of parts that do not come out even; buffers no larger than its parts.
inline Schedule random_grid(OperatorDraw& draw, const GroupModel& model, const Target& target, Schedule fixed) {
  const std::vector<CoreGrid> grids = core_grids(model, target);
  if (grids.empty()) return fixed;
  fixed.parallel =
      grids[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(grids.size()) - 1))].parallel;
  const IteratorSizes ranges = core_ranges(model, *fixed.parallel);
  for (const IteratorId i : ranges.ids()) {
    const auto size = fixed.buffer.find(model.iterators[i].name);
    if (size != fixed.buffer.end()) size->second = std::min(size->second, ranges[i]);
  }
  return fixed;
}

/// A whole schedule with its loops in another order, or with transfers at other places.
inline Schedule random_order(OperatorDraw& draw, Schedule whole) {
  std::vector<std::string>& order = *whole.order;
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(i) - 1))]);
  const bool planned = draw.coin();
  if (planned) whole.dma.clear();
  for (auto& [tensor, loop] : whole.dma) {
    const std::int64_t at = draw.between(-1, static_cast<std::int64_t>(order.size()) - 1);
    if (draw.coin()) loop = at < 0 ? "" : order[static_cast<std::size_t>(at)];
  }
  return whole;
}

}  // namespace drawing

/// Nothing where what is drawn is no operator, or does not fit the machine. `weights`: operands may be constants.
inline std::optional<DrawnProgram> drawn_program(OperatorDraw& draw, const Target& target, bool weights) {
  auto drawn = draw.draw();
  if (!drawn) return std::nullopt;
  DrawnProgram made;
  made.text = drawn->text;
  made.stages = weights && draw.between(0, 3) > 0 ? drawing::with_weights(drawn->stages, drawn->inputs) : drawn->stages;
  made.defined = std::move(drawn->stages);
  made.values = std::move(drawn->inputs);
  if (draw.between(0, 7) == 0) {  // as it is planned by default
    Planned searched = plan_group("op", made.stages, {}, SearchedPlanner(), target, {});
    if (std::holds_alternative<Decision>(searched)) return std::nullopt;
    made.plan = std::get<Plan>(std::move(searched));
    made.searched = true;
    return made;
  }
  const StageForm form = drawing::random_form(draw, made.stages, target);
  const auto formed = in_form(made.stages, form);
  const auto planned = [&](const Schedule& schedule) {
    return plan_group("op", made.stages, schedule, SwtvmPlanner(), target, {});
  };
  Planned plan = planned(with_form({}, form));
  if (!std::holds_alternative<StageList>(formed) || std::holds_alternative<Decision>(plan)) return std::nullopt;
  const GroupModel model = build_group_model(std::get<StageList>(formed), target);
  // Each part of the schedule on top of those that could be.
  const auto take = [&](Schedule fixed) -> bool {
    Planned next = planned(with_form(std::move(fixed), form));
    const bool can_be = std::holds_alternative<Plan>(next);
    if (can_be) plan = std::move(next);
    return can_be;
  };
  const auto schedule = [&] { return std::get<Plan>(plan).schedule; };
  Schedule fixed = random_slots(draw, model, schedule());
  if (draw.between(0, 3) == 0) fixed.slots.clear();
  if (draw.coin()) fixed = drawing::random_grid(draw, model, target, std::move(fixed));
  if (draw.between(0, 3) > 0) fixed = random_sharing(draw, model, target, std::move(fixed));
  if (target.cores.barrier_cycles > 0 && draw.coin()) fixed.launch = LaunchedBy::barrier;
  take(fixed);
  if (draw.coin()) {
    fixed.resident = random_residents(draw, model);
    take(fixed);
  }
  if (draw.coin()) made.reordered = take(drawing::random_order(draw, schedule()));
  made.plan = std::get<Plan>(std::move(plan));
  return made;
}

}  // namespace stowage::fixtures
