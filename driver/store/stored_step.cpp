// SPDX-License-Identifier: Apache-2.0
#include "driver/store/stored_step.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "lowering/model/group_model.h"
#include "lowering/model/planner.h"
#include "lowering/nest/lower.h"
#include "lowering/nest/plan.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"

namespace stowage {

namespace {

constexpr std::int64_t max_parts = 4096;  ///< as many cores as a target may have
constexpr std::int64_t max_slots = 1 << 20;
constexpr std::int64_t max_axes = 1 << 10;

Schedule schedule_of(const Json& json) {
  Schedule schedule;
  if (json.contains("parallel")) {
    schedule.parallel.emplace();
    for (const Json& split : json.at("parallel")) {
      schedule.parallel->push_back(
          {split.at("iterator").get<std::string>(), whole_number(split.at("parts"), 1, max_parts)});
    }
  }
  for (const auto& [iterator, size] : json.at("buffer").items()) {
    schedule.buffer[iterator] = whole_number(size, 1, std::int64_t{1} << 40);
  }
  if (json.contains("order")) schedule.order = json.at("order").get<std::vector<std::string>>();
  schedule.dma = json.at("dma").get<std::map<std::string, std::string>>();
  for (const auto& [tensor, slots] : json.at("slots").items()) {
    schedule.slots[tensor] = static_cast<int>(whole_number(slots, 1, max_slots));
  }
  return schedule;
}

template <class Value>
bool same_keys(const std::map<std::string, Value>& a, const std::map<std::string, Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

/// What is wrong with a stored schedule, in words, or nothing. Splits and sizes are those that a person may fix; loops
/// and places are checked by lowering it, save that they are there.
std::optional<std::string> broken_schedule(const std::string& subject, const GroupModel& model,
                                           const Schedule& schedule, const Target& target) {
  if (!schedule.parallel || !schedule.order) return "it is not complete";
  Schedule chosen;
  chosen.parallel = schedule.parallel;
  chosen.buffer = schedule.buffer;
  const Scheduled filled = run_algorithms(subject, model, chosen, target, {});
  if (const auto* refusal = std::get_if<Decision>(&filled)) return refusal->reason;
  const auto& complete = std::get<Schedule>(filled);
  if (!same_keys(schedule.buffer, complete.buffer)) return "it is not complete";
  if (!same_keys(schedule.dma, complete.dma)) return "dma: the tensors are not those that are transferred";
  if (!same_keys(schedule.slots, complete.slots)) return "slots: the tensors are not those that are transferred";
  std::set<std::string> loops;
  for (const std::string& loop : *schedule.order) {
    if (!loops.insert(loop).second) return fmt::format("order: {} is named twice", loop);
  }
  for (const auto& [tensor, loop] : schedule.dma) {
    if (!loop.empty() && !loops.contains(loop)) return fmt::format("dma: there is no loop '{}'", loop);
  }
  const auto one_slot = [](const auto& slots) { return slots.second == 1; };
  if (!std::all_of(schedule.slots.begin(), schedule.slots.end(), one_slot)) return "slots: a buffer has one slot";
  return std::nullopt;
}

}  // namespace

std::string joined(const Json& lines) {
  std::string text;
  for (const Json& line : lines) text += line.get<std::string>() + "\n";
  return text;
}

StoredStep stored_step(const Json& json) {
  StoredStep step;
  step.name = json.at("name").get<std::string>();
  step.template_name = json.at("template").get<std::string>();
  step.operators = json.at("operators").get<std::vector<std::string>>();
  step.roles = json.at("roles").get<std::vector<std::string>>();
  step.inputs = json.at("inputs").get<std::vector<std::string>>();
  step.output = json.at("output").get<std::string>();
  for (const Json& row : json.value("stacks", Json::array())) {
    step.stacks.push_back({row.at("whole").get<std::string>(),
                           static_cast<std::size_t>(whole_number(row.at("axis"), 0, max_axes)),
                           row.at("parts").get<std::vector<std::string>>()});
  }
  if (!json.contains("schedule")) return step;
  step.schedule = schedule_of(json.at("schedule"));
  step.nest = joined(json.at("nest"));
  return step;
}

FusedOperator read_group(const StoredStep& step, const Graph& graph) {
  const auto tensor = [&](const std::string& name) {
    const auto id = graph.find_tensor(name);
    if (!id) throw Damage(fmt::format("its graph has no tensor {}", Json(name).dump()));
    return *id;
  };
  FusedOperator group;
  group.name = step.name;
  group.template_name = step.template_name;
  for (const std::string& name : step.operators) {
    const auto id = graph.find_operator(name);
    if (!id) throw Damage(fmt::format("its graph has no operator {}", Json(name).dump()));
    group.operators.push_back(*id);
  }
  group.roles = step.roles;
  for (const std::string& name : step.inputs) group.inputs.push_back(tensor(name));
  group.output = tensor(step.output);
  for (const StoredStep::Stack& row : step.stacks) {
    TensorStack stack{tensor(row.whole), {}, row.axis};
    for (const std::string& part : row.parts) stack.parts.push_back(tensor(part));
    group.stacks.push_back(std::move(stack));
  }
  return group;
}

Plan read_plan(const StoredStep& step, const Graph& graph, const FusedOperator& group, const Target& target) {
  Plan plan;
  plan.schedule = *step.schedule;
  const StageList stages = group_stages(graph, group);
  const GroupModel model = build_group_model(stages);
  if (const auto broken = broken_schedule(group.name, model, plan.schedule, target)) {
    throw Damage(fmt::format("the schedule of '{}' cannot hold: {}", group.name, *broken));
  }
  Lowered lowered = lower(group.name, model, plan.schedule, target);
  if (const auto* refusal = std::get_if<Decision>(&lowered)) {
    throw Damage(fmt::format("the schedule of '{}' cannot be lowered: {}", group.name, refusal->reason));
  }
  plan.nest = std::get<LoopNest>(std::move(lowered));
  if (to_text(plan.nest) != step.nest) {
    throw Damage(fmt::format("the loop nest of '{}' differs from what this version makes of its schedule", group.name));
  }
  if (const auto broken = verify(plan.nest, target)) {
    throw Damage(fmt::format("the loop nest of '{}' is unsound: {}", group.name, *broken));
  }
  plan.counts = predict_counts(plan.nest);
  plan.time = estimate_time(plan.nest, plan.counts, target);
  return plan;
}

}  // namespace stowage
