// SPDX-License-Identifier: Apache-2.0
#include "driver/store/plan_json.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>

#include <fmt/format.h>

namespace stowage {

namespace {

Json to_json(const Graph& graph, const FusedOperator& group) {
  Json json;
  json["name"] = group.name;
  json["template"] = group.template_name;
  json["operators"] = Json::array();
  for (const OpId op : group.operators) json["operators"].push_back(graph.op(op).name);
  json["roles"] = group.roles;
  json["inputs"] = Json::array();
  for (const TensorId input : group.inputs) json["inputs"].push_back(graph.tensor(input).name);
  const std::vector<TensorId> stored = stored_by(group);
  json["output"] = graph.tensor(stored.front()).name;
  for (std::size_t i = 1; i < stored.size(); ++i) json["further_outputs"].push_back(graph.tensor(stored[i]).name);
  std::vector<TensorStack> stacks = group.parameters;
  std::copy_if(group.results.begin(), group.results.end(), std::back_inserter(stacks),
               [](const TensorStack& result) { return result.joins(); });
  if (!stacks.empty()) json["stacks"] = Json::array();
  for (const TensorStack& stack : stacks) {
    Json row = {{"whole", graph.tensor(stack.whole).name}, {"axis", stack.axis}, {"parts", Json::array()}};
    for (const TensorId part : stack.parts) row["parts"].push_back(graph.tensor(part).name);
    json["stacks"].push_back(std::move(row));
  }
  return json;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

}  // namespace

Json memory_json(const Program& program) {
  const Graph& graph = program.fused.graph;
  Json json;
  json["parameter_bytes"] = program.memory.parameter_bytes;
  json["activation_bytes"] = program.memory.activation_bytes;
  json["places"] = Json::array();
  for (const MemoryAllocation& place : program.memory.allocations) {
    Json row = {{"tensor", graph.tensor(place.tensor).name},
                {"area", place.area == MemoryAllocation::Area::parameters ? "parameters" : "activations"},
                {"offset", place.offset},
                {"bytes", place.bytes},
                {"first_step", place.first_step},
                {"last_step", place.last_step}};
    if (place.shares_with) row["shares_with"] = graph.tensor(*place.shares_with).name;
    json["places"].push_back(std::move(row));
  }
  json["stage_constants"] = Json::array();
  std::set<TensorId> packed;
  for (const StageConstantAllocation& place : program.memory.stage_constants) {
    const StageList& stages = program.steps[place.step].step_plan()->stages();
    const StageTensor& tensor = stages.tensors[place.tensor];
    Json row = {
        {"step", place.step.index()}, {"tensor", tensor.name}, {"offset", place.offset}, {"bytes", place.bytes}};
    if (tensor.source && tensor.packing) {
      const Packing& p = *tensor.packing;
      row["packs"] = graph.tensor(*tensor.source).name;
      row["packing"] = {p.outer, p.extent, p.inner, p.block};
      packed.insert(*tensor.source);
    }
    json["stage_constants"].push_back(std::move(row));
  }
  // Constants that no kernel reads from memory but a definition may look at (they are small). Those of branches are
  // parts of a whole that is there.
  std::set<TensorId> parts;
  for (const ProgramStep& step : program.steps) {
    for (const TensorStack& stack : step.group.parameters) parts.insert(stack.parts.begin(), stack.parts.end());
  }
  json["values"] = Json::object();
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const GraphTensor& tensor = graph.tensors()[i];
    if (!tensor.constant || tensor.consumers.empty() || parts.contains(TensorId(i))) continue;
    if (program.memory.find(TensorId(i)) != nullptr || packed.contains(TensorId(i))) continue;
    json["values"][tensor.name] = hexadecimal(tensor.constant->bytes());
  }
  return json;
}

Json others_json(const Compilation& compilation) {
  Json rows = Json::array();
  for (const OtherPlan& other : compilation.others) {
    rows.push_back({{"planner", other.planner},
                    {"cores", other.cores},
                    {"cycles", other.cycles},
                    {"cost", name_of(compilation.program.evaluated_by)},
                    {"time_s", static_cast<double>(other.cycles) / compilation.program.target.clock_hz}});
  }
  return rows;
}

std::string plan_json(const Compilation& compilation) {
  const Program& program = compilation.program;
  Json json;
  json["command"] = compilation.command_line;
  json["format"] = plan_format;
  json["version"] = plan_version;
  json["stowage"] = stowage_version();
  json["model"] = {{"path", compilation.model.path}, {"hash", compilation.model.hash}};
  json["dimensions"] = compilation.dimensions;
  json["bindings"] = Json::object();
  for (const auto& [input, file] : compilation.bindings) {
    json["bindings"][input] = {{"path", file.path}, {"hash", file.hash}};
  }
  if (compilation.templates) {
    json["templates"] = {{"path", compilation.templates->file.path},
                         {"hash", compilation.templates->file.hash},
                         {"text", lines_of(compilation.templates->text)}};
  }
  if (compilation.cost_model) {
    json["cost_model"] = {{"path", compilation.cost_model->file.path},
                          {"hash", compilation.cost_model->file.hash},
                          {"text", lines_of(compilation.cost_model->text)}};
  }
  json["network"] = compilation.network;
  json["fusion"] = program.fusion;
  json["planner"] = program.planner;
  json["layout"] = program.layout;
  json["cost"] = name_of(program.evaluated_by);
  if (compilation.evaluated_cycles) json["evaluated_cycles"] = *compilation.evaluated_cycles;
  json["target"] = lines_of(to_toml(program.target));
  json["graph"] = lines_of(to_text(program.fused.graph));
  json["steps"] = Json::array();
  for (const StepId i : program.steps.ids()) {
    const ProgramStep& step = program.steps[i];
    Json row = to_json(program.fused.graph, step.group);
    if (const StepPlan* planned = step.step_plan()) {
      if (!step.kind().key.empty()) row["kind"] = step.kind().key;
      row["kernel"] = compilation.emitted.kernel_of_step[i];
      row.update(compilation.backend->stored(*planned));
    }
    json["steps"].push_back(std::move(row));
  }
  json["memory"] = memory_json(program);
  json["totals"] = totals_json(program);
  if (!compilation.others.empty()) json["others"] = others_json(compilation);
  return dumped(json, 1);
}

}  // namespace stowage
