// SPDX-License-Identifier: Apache-2.0
#include "driver/store/stored_step.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "driver/json/damage.h"

namespace stowage {

namespace {

constexpr std::int64_t max_axes = 1 << 10;
constexpr std::string_view view_word = "view";  ///< marks a view where other steps have their template

}  // namespace

StoredStep stored_step(const Json& json) {
  StoredStep step;
  step.name = json.at("name").get<std::string>();
  step.template_name = json.at("template").get<std::string>();
  step.operators = json.at("operators").get<std::vector<std::string>>();
  step.roles = json.at("roles").get<std::vector<std::string>>();
  step.inputs = json.at("inputs").get<std::vector<std::string>>();
  step.outputs = {json.at("output").get<std::string>()};
  for (const Json& name : json.value("further_outputs", Json::array())) step.outputs.push_back(name.get<std::string>());
  for (const Json& row : json.value("stacks", Json::array())) {
    step.stacks.push_back({row.at("whole").get<std::string>(),
                           static_cast<std::size_t>(whole_number(row.at("axis"), 0, max_axes)),
                           row.at("parts").get<std::vector<std::string>>()});
  }
  if (!json.contains("schedule")) return step;
  step.launched = json;
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
  for (const std::string& name : step.outputs) group.results.push_back({tensor(name), {tensor(name)}});
  for (const StoredStep::Stack& row : step.stacks) {
    TensorStack stack{tensor(row.whole), {}, row.axis};
    for (const std::string& part : row.parts) stack.parts.push_back(tensor(part));
    const auto result = std::find_if(group.results.begin(), group.results.end(),
                                     [&](const TensorStack& stored) { return stored.whole == stack.whole; });
    if (result == group.results.end()) {
      group.parameters.push_back(std::move(stack));
    } else {
      *result = std::move(stack);
    }
  }
  return group;
}

}  // namespace stowage
