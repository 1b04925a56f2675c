// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/athread_backend.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/check.h"
#include "core/overloaded.h"
#include "core/quoting.h"
#include "driver/athread/athread_schedule.h"
#include "driver/athread/kept_choices.h"
#include "driver/athread/stored_plan.h"
#include "driver/athread/stored_schedule.h"
#include "driver/json/certificate_json.h"
#include "driver/json/damage.h"
#include "driver/json/json.h"
#include "emitter/athread/emit.h"
#include "emitter/emulation/emulate.h"
#include "fusion/fold/channel_blocks.h"
#include "lowering/model/sharing.h"
#include "lowering/model/stage_form.h"
#include "lowering/nest/move_tensors.h"
#include "lowering/program/library_plan.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/plan_step.h"
#include "lowering/program/planners.h"
#include "lowering/time/cycle_limit.h"

namespace stowage {

namespace {

/// In the place of a schedule: of a plan that the management core carries out, why it does.
constexpr const char* management_key = "management_core";

/// Of a plan without a loop nest of its own, `schedule` being what says how it is done.
Json to_json(const StepPlan& plan, Json schedule) {
  Json json;
  json["schedule"] = std::move(schedule);
  json["stages"] = lines_of(to_text(plan.stages()));
  json["nest"] = lines_of(plan.text());
  json["ldm_bytes"] = 0;
  json["dma"] = Json::array();
  json["cycles"] = plan.cycles();
  json["time"] = Json::array();
  for (const PlanTerm& term : plan.terms()) {
    json["time"].push_back(
        {{"term", term.name}, {"cycles", term.cycles}, {"formula", term.formula}, {"source", term.source}});
  }
  return json;
}

Json to_json(const ManagementPlan& plan) {
  return to_json(plan, {{management_key, {{"rule", plan.refused().rule}, {"reason", plan.refused().reason}}}});
}

/// In the place of a schedule: of a plan that a library carries out, which one, and what its loop nest would take.
constexpr const char* library_key = "library";

Json to_json(const LibraryPlan& plan) {
  Json call = {{"name", plan.library().name}};
  if (plan.nest_cycles()) call["nest_cycles"] = *plan.nest_cycles();
  return to_json(plan, {{library_key, std::move(call)}});
}

StepWork managed(StageList stages, const Decision& refused, const Target& target) {
  return ManagementStep{std::make_shared<const ManagementPlan>(std::move(stages), refused, target)};
}

StepWork restored_management(const Json& schedule, const std::string& text, const Graph& graph,
                             const FusedOperator& group, const Target& target) {
  const Json& why = schedule.at(management_key);
  if (!target.management_core) {
    throw Damage(fmt::format("'{}' is given to the management core, which its target has not", group.name));
  }
  StageList stages = group_stages(graph, group);
  if (to_text(stages) != text) {
    throw Damage(fmt::format("the loop nest of '{}' is not that of its operator", group.name));
  }
  return managed(std::move(stages),
                 Decision::refuse(why.at("rule").get<std::string>(), why.at("reason").get<std::string>()), target);
}

/// The call of a library for a group that is a product.
StepWork called(const std::string& name, std::optional<std::int64_t> nest_cycles, const Graph& graph,
                const FusedOperator& group, const Target& target) {
  const Library* const library = find_library(target, name);
  if (library == nullptr || name != target.use_library)  // a program links with one
    throw Damage(fmt::format("'{}' is given to library '{}', which its target does not use", group.name, name));
  StageList stages = group_stages(graph, group);
  const auto product = matrix_product(stages);
  if (const auto* refused = std::get_if<Decision>(&product))
    throw Damage(fmt::format("'{}' is given to a library, but {}", group.name, refused->reason));
  return LibraryCall{std::make_shared<const LibraryPlan>(std::move(stages), std::get<MatrixProduct>(product), *library,
                                                         nest_cycles, target)};
}

StepWork restored_call(const Json& schedule, const std::string& text, const Graph& graph, const FusedOperator& group,
                       const Target& target) {
  const Json& call = schedule.at(library_key);
  std::optional<std::int64_t> nest_cycles;
  if (call.contains("nest_cycles")) nest_cycles = whole_number(call.at("nest_cycles"), 0, cycle_limit);
  StepWork work = called(call.at("name").get<std::string>(), nest_cycles, graph, group, target);
  if (std::get<LibraryCall>(work).plan->text() != text)
    throw Damage(fmt::format("the call of '{}' is not that of its operator", group.name));
  return work;
}

/// The same plan with another nest of its schedule.
Plan with_nest(Plan plan, LoopNest nest) {
  plan.nest = std::move(nest);
  plan.counts = predict_counts(plan.nest);
  return plan;
}

/// Puts a comment in front of a file.
void sign(EmittedFile& file, const std::string& comment) {
  file.text = comment + "\n" + file.text;
  for (LineOrigin& origin : file.origins) ++origin.line;
}

}  // namespace

std::vector<std::string> AthreadBackend::planner_names() const { return stowage::planner_names(); }

std::string AthreadBackend::default_planner() const { return stowage::default_planner(); }

std::string AthreadBackend::default_layout(const std::string& planner) const {
  // The published planner takes pictures as the papers do.
  return std::string(planner == published_planner ? given_layout : blocked_layout);
}

std::vector<Alternative> AthreadBackend::alternatives(const CompiledBy& compiled) const {
  const std::string published(published_planner);
  const Target& target = compiled.target;
  if (compiled.planner != published) {
    return {{published, target, fmt::format("by planner {}", published),
             fmt::format("Planner {}, the published one, takes that with the groups that {} chooses for it, and "
                         "pictures as ONNX has them.",
                         published, compiled.strategy)}};
  }
  if (compiled.evaluated_by == EvaluatedBy::learned) return {};  // what was learned is of this number of cores only
  std::vector<Alternative> found;
  for (int share = 2; share <= 8 && target.cores.count >= share; share *= 2) {
    Target fewer = target;
    fewer.cores.count = target.cores.count / share;
    const std::string title = fmt::format("on {} of {} cores", fewer.cores.count, target.cores.count);
    found.push_back({published, std::move(fewer), title,
                     fmt::format("On fewer cores planner {} is faster, because more cores load more in all; planner "
                                 "searched chooses how many to use.",
                                 published),
                     true});
  }
  return found;
}

void AthreadBackend::read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed) const {
  stowage::read_schedule(table, name, fixed);
}

std::vector<std::string> AthreadBackend::evaluator_names() const { return stowage::evaluator_names(); }

std::unique_ptr<GroupCost> AthreadBackend::group_cost(const std::string& planner, const Target& target,
                                                      const CostOptions& options) const {
  const Planner* const found = find_planner(planner);
  if (found == nullptr) return nullptr;
  CostOptions asked = options;
  const Planner& judge = found->for_costs();
  if (improves(*found) && asked.choices != nullptr) asked.choices = &asked.choices->for_costs();
  if (asked.choices != nullptr) recall_choices(asked.cache, judge, target, *asked.choices);
  return std::make_unique<PlannedGroupCost>(judge, target, std::move(asked));
}

PlannedStep AthreadBackend::plan_group(const Graph& graph, const FusedOperator& group, const FixedSchedule* fixed,
                                       const std::string& planner, const Target& target, const CostOptions& options,
                                       TraceSink trace) const {
  const Planner* const found = find_planner(planner);
  check(found != nullptr, "a group is planned by a planner that there is not");
  return plan_step(graph, group, fixed != nullptr ? &schedule_of(*fixed) : nullptr, *found, target, trace,
                   options.choices);
}

Result<Program> AthreadBackend::plan(const FusedGraph& fused, const FixedSchedules& fixed, const std::string& planner,
                                     const Target& target, const CostOptions& options, TraceSink trace,
                                     const WorkContext& work) const {
  const Planner* const found = find_planner(planner);
  check(found != nullptr, "a program is planned by a planner that there is not");
  if (!check_schedules(fused, fixed, *found, target, work.diagnostics)) return Failed{};
  PlanChoices own;
  PlanChoices& choices = options.choices != nullptr ? *options.choices : own;
  recall_choices(options.cache, *found, target, choices);
  auto program = plan_program(fused, schedules_of(fixed), *found, target, trace, work.diagnostics, work.stop,
                              work.progress, options.threads, &choices, options.over);
  keep_choices(options.cache, *found, target, choices);
  return program;
}

StepWork AthreadBackend::moved(const StepWork& work, const Graph& graph, const FusedOperator& group,
                               const Target& target) const {
  const auto launch_moved = [&](const KernelLaunch& launch) {
    const Plan* const plan = plan_of(launch.plan.get());
    check(plan != nullptr, "a kernel of another family");
    // Its own nest, which another version may have made.
    auto stages = in_form(group_stages(graph, group), form_of(plan->schedule));
    check(std::holds_alternative<StageList>(stages), "axes have lost their form");
    return launch_of(with_nest(*plan, move_tensors(plan->nest, std::get<StageList>(stages), target)));
  };
  const auto step_moved = [&](const ManagementStep& step) -> StepWork {
    return managed(group_stages(graph, group), step.plan->refused(), target);
  };
  const auto call_moved = [&](const LibraryCall& call) -> StepWork {
    return called(call.plan->library().name, call.plan->nest_cycles(), graph, group, target);
  };
  return std::visit(
      Overloaded{[](const ViewStep& view) -> StepWork { return view; }, launch_moved, step_moved, call_moved}, work);
}

Json AthreadBackend::stored(const StepPlan& plan) const {
  if (const auto* managed = dynamic_cast<const ManagementPlan*>(&plan)) return to_json(*managed);
  if (const auto* library = dynamic_cast<const LibraryPlan*>(&plan)) return to_json(*library);
  const Plan* const athread = plan_of(&plan);
  check(athread != nullptr, "a kernel of another family");
  return to_json(*athread);
}

StepReader AthreadBackend::step_reader(const Graph& graph, const Target& target) const {
  const auto known = std::make_shared<KnownNests>();
  return [&graph, &target, known](const Json& entries, const std::string& text, const FusedOperator& group) {
    const Json& schedule = entries.at("schedule");
    const std::string kind = kind_of_step(entries);
    if (kind == ManagementStep::kind.key) return restored_management(schedule, text, graph, group, target);
    if (kind == LibraryCall::kind.key) return restored_call(schedule, text, graph, group, target);
    if (!kind.empty()) throw Damage(fmt::format("'{}' is of the kind '{}', which this tool has not", group.name, kind));
    KeyedPlan read = read_plan(entries, text, graph, group, target, *known);
    return launch_of(std::move(read.plan), read.key);
  };
}

EmittedProgram AthreadBackend::emit(const Program& program, const std::string& signature) const {
  EmittedProgram emitted = emit_athread(program);
  check(emitted.arena_bytes <= program.target.ldm.bytes,
        "plans leave a kernel's parameters their room (lowering/model/ldm_room.h)");
  if (signature.empty()) return emitted;
  const std::string text = c_comment_text(signature);
  for (EmittedFile& file : emitted.files) {
    if (file.path == "Makefile") sign(file, "# " + text);
    if (file.path == "main.c") sign(file, "/* " + text + " */");
  }
  return emitted;
}

/// Sources as they are, or for the sanitizer with bytes between the LDM buffers that belong to none, so that an access
/// past a buffer is seen. Sources that were changed by hand run as they stand.
Result<BackendRun> AthreadBackend::run(const Program& program, const EmittedProgram& emitted,
                                       std::span<const Tensor> inputs, const RunSettings& settings,
                                       const StepObserver& on_output, const WorkContext& work) const {
  const auto run_sources = [&](const Program& run, const EmittedProgram& sources) -> Result<BackendRun> {
    auto result = emulate(run, sources, inputs, EmulationOptions{settings, {}}, on_output, work.diagnostics, work.stop);
    if (!result) return Failed{};
    std::vector<CountError> counts = compare_counts(run, *result);
    return BackendRun{*std::move(result), std::move(counts)};
  };
  if (!settings.sanitize || settings.changed_sources) return run_sources(program, emitted);
  const Program zoned = with_red_zones(program);
  return run_sources(zoned, emit_athread(zoned));
}

}  // namespace stowage
