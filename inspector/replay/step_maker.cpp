// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/step_maker.h"

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/report/nest_rows.h"
#include "lowering/model/buffer_slots.h"

namespace stowage::inspector {

StepMaker::StepMaker(const LoadedPlan& plan, const StepFacts& facts, Replay& replay)
    : plan_(plan),
      facts_(facts),
      replay_(replay),
      model_(build_group_model(facts.plan->nest.stages, plan.program().target)) {
  state.ranges = core_ranges(model_, {});
  const Schedule& schedule = facts.plan->schedule;
  state.residents = Residents(model_, schedule.resident,
                              core_ranges(model_, schedule.parallel.value_or(std::vector<ParallelSplit>{})));
  state.depth.assign(model_.buffers.size(), std::nullopt);
  loop_over_iterators();
}

ReplayStep& StepMaker::add(std::string algorithm, std::string mark, TraceOutcome outcome, std::string message) {
  ReplayStep step;
  step.algorithm = std::move(algorithm);
  step.mark = std::move(mark);
  step.outcome = outcome;
  step.message = std::move(message);
  step.nest = nest_so_far(model_, state);
  if (!state.sizes.empty()) draw_buffers(step);
  return replay_.steps.emplace_back(std::move(step));
}

void StepMaker::draw_buffers(ReplayStep& step) {
  const auto bytes = bytes_of_buffers();
  for (const BufferId b : model_.buffers.ids()) {
    const ModelBuffer& buffer = model_.buffers[b];
    const std::vector<std::int64_t> elements = buffer_extents(model_, b, state.sizes, state.residents);
    const std::string extents = extents_text(elements);
    const bool changed = extents_before_.contains(b) && extents_before_[b] != extents;
    const ElementType type = model_.list->tensors[buffer.tensor].type;
    const std::int64_t own = element_count(elements) * byte_size(type);
    const std::string inside = buffer.shares_with ? model_.buffers[*buffer.shares_with].name : "";
    step.buffers.push_back({buffer.name, extents, own, bytes[b], buffer.kind, inside, changed});
  }
  extents_before_ = {};
  for (const ReplayBuffer& buffer : step.buffers) extents_before_.push_back(buffer.extents);
  step.ldm_bytes = ldm_bytes();
}

IdVector<BufferId, std::int64_t> StepMaker::bytes_of_buffers() const {
  return buffer_bytes(model_, state.sizes, target().ldm.alignment, slots_by_buffer(model_, plan().schedule.slots),
                      state.residents);
}

std::int64_t StepMaker::ldm_bytes() const {
  const auto bytes = bytes_of_buffers();
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

void StepMaker::add_variable(ReplayStep& step, const std::string& name, const std::string& value) {
  const std::string key = step.algorithm + "/" + name;
  const auto before = values_before_.find(key);
  step.variables.push_back({name, value, before == values_before_.end() || before->second != value});
  values_before_[key] = value;
}

void StepMaker::compare_loops_from(std::size_t step, const std::vector<LoopRound>& rounds) {
  for (; step < replay_.steps.size(); ++step) replay_.steps[step].rounds = rounds;
}

void StepMaker::draw_earlier_steps() {
  for (ReplayStep& step : replay_.steps) step.nest = nest_so_far(model_, state);
}

void StepMaker::loop_over_iterators() {
  state.loops.clear();
  for (const IteratorId i : model_.iterators.ids()) {
    state.loops.push_back({i, model_.iterators[i].name, state.ranges[i]});
  }
}

void StepMaker::loop_over_tiles(const LdmState& buffers) {
  LdmSizes sizes{buffers.sizes, {}};
  for (const IteratorClass found : buffers.classes) sizes.whole.push_back(found == IteratorClass::whole);
  state.sizes = buffers.sizes;
  state.loops = outer_loops(model_, state.ranges, sizes);
  state.ordering = false;
  state.open = 0;
}

void StepMaker::arrange_finally() {
  state.open = 0;
  state.ordering = false;
  if (!plan().schedule.order) return;
  std::vector<OuterLoop> order;
  for (const std::string& name : *plan().schedule.order) {
    for (const OuterLoop& loop : state.loops) {
      if (loop.name == name) order.push_back(loop);
    }
  }
  if (order.size() == state.loops.size()) state.loops = order;
}

void StepMaker::place(const std::string& tensor, const std::string& loop) {
  for (const BufferId b : model_.buffers.ids()) {
    if (model_.buffers[b].name != tensor) continue;
    const std::vector<std::size_t> path = path_of(model_, state.loops, model_.buffers[b]);
    state.depth[b] = 0;
    for (std::size_t p = 0; p < path.size(); ++p) {
      if (state.loops[path[p]].name == loop) state.depth[b] = p + 1;
    }
  }
}

}  // namespace stowage::inspector
