// SPDX-License-Identifier: Apache-2.0
#include "driver/backend/backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "core/toml_reader.h"
#include "driver/json/damage.h"
#include "driver/json/json.h"
#include "fusion/fold/channel_blocks.h"
#include "lowering/program/memory_map.h"

namespace stowage {

namespace {

Failed no_simulator(std::string_view family, Diagnostics& diagnostics) {
  diagnostics.error("no-simulator", {}, fmt::format("family '{}' has no simulator", family),
                    "`stowage explain` tells the time that its planner predicts");
  return Failed{};
}

/// Plans a group whenever it is asked for its cycles.
class CostByPlan final : public GroupCost {
 public:
  CostByPlan(const Backend& backend, std::string planner, const Target& target, CostOptions options)
      : backend_(backend), planner_(std::move(planner)), target_(target), options_(std::move(options)) {}
  [[nodiscard]] Answer cost(const Graph& graph, const FusedOperator& group) const override {
    PlannedStep planned = backend_.plan_group(graph, group, nullptr, planner_, target_, options_, {});
    if (auto* refused = std::get_if<Decision>(&planned)) return {std::move(*refused), 0};
    const ProgramStep step{group, std::get<StepWork>(std::move(planned))};
    return {Decision::allow(), step.step_plan() == nullptr ? 0 : step.step_plan()->cycles()};
  }

 private:
  const Backend& backend_;
  std::string planner_;
  const Target& target_;
  CostOptions options_;
};

/// The kernel of a group of which everything is chosen.
StepWork planned_again(const Backend& backend, Numbers chosen, const Graph& graph, const FusedOperator& group,
                       const Target& target) {
  const NumberSchedule fixed(std::move(chosen));
  PlannedStep planned = backend.plan_group(graph, group, &fixed, backend.default_planner(), target, {}, {});
  if (const auto* refused = std::get_if<Decision>(&planned)) throw Damage(refused->reason);
  return std::get<StepWork>(std::move(planned));
}

void report_unknown_names(const FusedGraph& fused, const FixedSchedules& fixed, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const FusedOperator& group : fused.groups) names.push_back(group.name);
  for (const auto& [name, schedule] : fixed.schedules) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto written = fixed.locations.find(name);
    Diagnostic diagnostic = written != fixed.locations.end() ? written->second : Diagnostic{};
    diagnostic.code = "unknown-fused-operator";
    diagnostic.message = fmt::format("no fused operator '{}'", name);
    diagnostic.remedy = suggest_name(name, names);
    diagnostics.add(std::move(diagnostic));
  }
}

}  // namespace

std::string Backend::default_planner() const { return planner_names().front(); }

std::unique_ptr<GroupCost> Backend::group_cost(const std::string& planner, const Target& target,
                                               const CostOptions& options) const {
  const std::vector<std::string> names = planner_names();
  if (std::find(names.begin(), names.end(), planner) == names.end()) return nullptr;
  return std::make_unique<CostByPlan>(*this, planner, target, options);
}

Result<Program> Backend::plan(const FusedGraph& fused, const FixedSchedules& fixed, const std::string& planner,
                              const Target& target, const CostOptions& options, TraceSink trace,
                              const WorkContext& work) const {
  report_unknown_names(fused, fixed, work.diagnostics);
  Program program;
  program.fused = fused;
  program.target = target;
  program.planner = planner;
  for (std::size_t done = 0; const FusedOperator& group : fused.groups) {
    if (work.progress) work.progress("plan", done++, fused.groups.size());
    if (work.stop.stop_requested()) return Failed{};
    const auto found = fixed.schedules.find(group.name);
    const FixedSchedule* const schedule = found != fixed.schedules.end() ? found->second.get() : nullptr;
    PlannedStep planned = plan_group(fused.graph, group, schedule, planner, target, options, trace);
    if (auto* refused = std::get_if<Decision>(&planned)) {
      SourceLocation location;
      location.object = "fused operator " + group.name;
      work.diagnostics.error(refused->rule, std::move(location), refused->reason);
      continue;
    }
    program.steps.push_back({group, std::get<StepWork>(std::move(planned))});
  }
  if (work.diagnostics.has_errors()) return Failed{};
  program.memory = plan_memory(fused, program.steps, target.main_memory.line_bytes);
  return program;
}

std::vector<NumberKey> Backend::target_keys() const { return {}; }

void Backend::read_target(TomlTable& table, Target& target) const {
  const auto numbers = read_numbers(table, target_keys());
  if (!numbers) return;
  for (const auto& [key, number] : *numbers) target.own[key] = static_cast<double>(number);
}

std::vector<NumberKey> Backend::schedule_keys() const { return {}; }

Numbers Backend::chosen(const StepPlan& /*plan*/) const { return {}; }

void Backend::read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed) const {
  auto numbers = read_numbers(table, schedule_keys());
  table.finish();
  if (numbers) fixed.schedules[name] = std::make_shared<const NumberSchedule>(*std::move(numbers));
}

StepWork Backend::moved(const StepWork& work, const Graph& graph, const FusedOperator& group,
                        const Target& target) const {
  const auto* const launch = std::get_if<KernelLaunch>(&work);
  return launch == nullptr ? work : planned_again(*this, chosen(*launch->plan), graph, group, target);
}

Json Backend::stored(const StepPlan& plan) const {
  return {{"schedule", chosen(plan)}, {"nest", lines_of(plan.text())}};
}

StepReader Backend::step_reader(const Graph& graph, const Target& target) const {
  return [this, &graph, &target](const Json& entries, const std::string& text, const FusedOperator& group) {
    Numbers numbers;
    for (const NumberKey& key : schedule_keys()) {
      numbers[key.name] = whole_number(entries.at("schedule").at(key.name), key.range.low, key.range.high);
    }
    StepWork work = planned_again(*this, numbers, graph, group, target);
    const StepPlan& plan = *std::get<KernelLaunch>(work).plan;
    if (plan.text() != text || chosen(plan) != numbers) {
      throw Damage(fmt::format("'{}' is not what this version plans", group.name));
    }
    return work;
  };
}

std::string Backend::default_layout(const std::string& /*planner*/) const { return std::string(given_layout); }

std::vector<std::string> Backend::evaluator_names() const { return {std::string(name_of(EvaluatedBy::closed_form))}; }

std::vector<Alternative> Backend::alternatives(const CompiledBy& /*compiled*/) const { return {}; }

Result<IdVector<StepId, std::int64_t>> Backend::evaluate(const Program& program, const Evaluator& evaluator,
                                                         unsigned /*threads*/, const WorkContext& /*work*/) const {
  check(evaluator.is_closed_form(), "a family is asked for an evaluator that it has not");
  IdVector<StepId, std::int64_t> cycles;
  for (const ProgramStep& step : program.steps) {
    const StepPlan* const planned = step.step_plan();
    cycles.push_back(planned == nullptr ? 0 : planned->cycles());
  }
  return cycles;
}

Result<IdVector<StepId, SimulatedStep>> Backend::simulate(const Program& /*program*/, DmaOrder /*order*/,
                                                          const WorkContext& work) const {
  return no_simulator(family(), work.diagnostics);
}

Result<StepTimeline> Backend::timeline(const Program& /*program*/, StepId /*step*/, DmaOrder /*order*/,
                                       const WorkContext& work) const {
  return no_simulator(family(), work.diagnostics);
}

const Backend* find_backend(const Backends& backends, std::string_view family) {
  const auto found = std::find_if(backends.begin(), backends.end(),
                                  [&](const Backend* backend) { return backend->family() == family; });
  return found == backends.end() ? nullptr : *found;
}

std::vector<TargetFamily> families_of(const Backends& backends) {
  std::vector<TargetFamily> families;
  for (const Backend* backend : backends) {
    if (backend->family() == athread_family) continue;  // its keys are the members of Target
    families.push_back({std::string(backend->family()),
                        [backend](TomlTable& table, Target& target) { backend->read_target(table, target); }});
  }
  return families;
}

std::vector<std::string> planner_names(const Backends& backends) {
  std::vector<std::string> names;
  for (const Backend* backend : backends) {
    for (std::string& name : backend->planner_names()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace stowage
