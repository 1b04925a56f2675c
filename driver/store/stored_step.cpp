// SPDX-License-Identifier: Apache-2.0
#include "driver/store/stored_step.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "driver/store/damage.h"
#include "driver/store/stored_nest.h"
#include "driver/store/stored_schedule.h"
#include "lowering/model/group_model.h"

namespace stowage {

namespace {

constexpr std::int64_t max_axes = 1 << 10;
constexpr std::string_view view_word = "view";  ///< marks a view where other steps have their template

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
  group.is_view = step.template_name == view_word;
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
  plan.nest = read_nest(step.nest, graph, group, target);
  const GroupModel model = build_group_model(plan.nest.stages);
  if (const auto broken = other_memory(plan.nest, model)) {
    throw Damage(fmt::format("the loop nest of '{}': {}", group.name, *broken));
  }
  if (const auto broken = broken_schedule(group.name, model, plan.schedule, target)) {
    throw Damage(fmt::format("the schedule of '{}' cannot hold: {}", group.name, *broken));
  }
  if (const auto broken = other_than_schedule(plan.nest, model, plan.schedule)) {
    throw Damage(fmt::format("the loop nest of '{}' is not that of its schedule: {}", group.name, *broken));
  }
  plan.counts = predict_counts(plan.nest);
  plan.time = estimate_time(plan.nest, plan.counts, target);
  return plan;
}

}  // namespace stowage
