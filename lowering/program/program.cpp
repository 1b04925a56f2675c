// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/program.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/parallel.h"
#include "lowering/model/ldm_room.h"
#include "lowering/model/planner.h"
#include "lowering/program/plan_choices.h"
#include "lowering/program/plan_group.h"
#include "lowering/time/cycle_limit.h"
#include "lowering/time/dma_alignment.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

/// Chooses for one group of each kind of which nothing is fixed and nothing is known.
void choose_for_groups(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                       const Planner& planner, const Target& target, PlanChoices& choices, unsigned threads,
                       const std::stop_token& stop) {
  std::map<std::string, CanonicalStages> missing;
  for (const FusedOperator& group : fused.groups) {
    if (group.is_view || schedules.contains(group.name) || stop.stop_requested()) continue;
    CanonicalStages canonical = canonical_stages(group_stages(fused.graph, group));
    if (!choices.find(canonical.text)) missing.try_emplace(canonical.text, std::move(canonical));
  }
  std::vector<const CanonicalStages*> kinds;
  for (const auto& [text, canonical] : missing) kinds.push_back(&canonical);
  parallel_for(kinds.size(), threads, stop,
               [&](std::size_t k) { choices.add(kinds[k]->text, choose_plan(*kinds[k], planner, target)); });
}

std::string remedy_for(const Decision& refused) {
  if (refused.rule == "ldm-capacity") return "choose a target with more LDM or another fusion";
  if (refused.rule == "dma-alignment") return "choose a target with a smaller dma_alignment";
  if (refused.rule == cycle_limit_rule) {
    return "give the target's clock_hz, dma_bandwidth, dma_startup_cycles, launch_seconds and flops per cycle values "
           "of a "
           "machine, or split the tensors";
  }
  return "";
}

void warn_of_unaligned(const ProgramStep& step, const Target& target, Diagnostics& diagnostics) {
  const auto unaligned = unaligned_transfers(step.plan()->nest, target);
  if (unaligned.empty()) return;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.code = "dma-alignment";
  warning.place.object = fmt::format("fused operator {}", step.group.name);
  warning.message = fmt::format(
      "{} of narrow elements cannot be kept to multiples of {} bytes: {} would refuse to carry {} out; the emulation "
      "moves {} byte by byte",
      counted(unaligned.size(), "transfer"), target.dma_alignment, target.name,
      for_number(unaligned.size(), "it", "them"), for_number(unaligned.size(), "it", "them"));
  warning.remedy =
      fmt::format("use elements of {0} bytes, or dimensions whose bytes are multiples of {0}", target.dma_alignment);
  for (const UnalignedTransfer& transfer : unaligned) warning.notes.push_back(transfer.reason);
  diagnostics.add(std::move(warning));
}

}  // namespace

const Plan* ProgramStep::plan() const {
  const auto* launch = std::get_if<KernelLaunch>(&work);
  return launch == nullptr ? nullptr : launch->plan.get();
}

StepWork launch_of(Plan plan) { return KernelLaunch{std::make_shared<const Plan>(std::move(plan))}; }

Result<Program> plan_program(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                             const Planner& planner, const Target& target, TraceSink trace, Diagnostics& diagnostics,
                             std::stop_token stop, const ProgressSink& progress, unsigned threads,
                             PlanChoices* choices) {
  std::vector<std::string> names;
  for (const FusedOperator& group : fused.groups) names.push_back(group.name);
  for (const auto& [name, schedule] : schedules) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      diagnostics.error("unknown-operator", {},
                        fmt::format("a schedule is given for '{}', which is no fused operator", name),
                        suggest_name(name, names));
    }
  }
  Program program;
  program.fused = fused;
  program.target = target;
  program.planner = planner.name();
  std::vector<std::optional<Planned>> plans(fused.groups.size());  // views have none
  std::vector<Trace> traces(fused.groups.size());
  std::mutex reporting;
  std::size_t done = 0;
  if (progress) progress("plan", 0, fused.groups.size());
  PlanChoices own;
  if (choices == nullptr) choices = &own;
  choose_for_groups(fused, schedules, planner, target, *choices, threads, stop);
  parallel_for(fused.groups.size(), threads, stop, [&](std::size_t g) {
    const FusedOperator& group = fused.groups[g];
    const TraceSink sink = trace.listening() ? TraceSink(&traces[g]) : TraceSink();
    const auto fixed = schedules.find(group.name);
    if (!group.is_view && fixed != schedules.end()) {
      plans[g] = plan_group(group.name, group_stages(fused.graph, group), fixed->second, planner, target, sink);
    } else if (!group.is_view) {
      StageList stages = group_stages(fused.graph, group);
      const CanonicalStages canonical = canonical_stages(stages);
      const auto known = choices->find(canonical.text);
      check(known != nullptr, "something was chosen for every group");
      PlanChoice choice = with_original_names(*known, canonical, group.name);
      for (TraceRecord& record : choice.records) sink.add(std::move(record));
      plans[g] = plan_chosen(group.name, stages, choice.schedule, planner, target, sink);
    }
    const std::scoped_lock lock(reporting);
    if (progress) progress("plan", ++done, fused.groups.size());
  });
  if (stop.stop_requested()) return Failed{};
  for (std::size_t g = 0; g < fused.groups.size(); ++g) {
    const FusedOperator& group = fused.groups[g];
    ProgramStep step;
    step.group = group;
    for (TraceRecord& record : traces[g].records) trace.add(std::move(record));
    if (plans[g]) {
      Planned planned = *std::move(plans[g]);
      if (const auto* refused = std::get_if<Decision>(&planned)) {
        SourcePlace place;
        place.object = fmt::format("fused operator {}", group.name);
        diagnostics.error(refused->rule, std::move(place), refused->reason, remedy_for(*refused));
        continue;
      }
      step.work = launch_of(std::get<Plan>(std::move(planned)));
      const auto broken = verify(step.plan()->nest, target);
      if (broken && broken->starts_with(unchecked_rule)) {
        SourcePlace place;
        place.object = fmt::format("fused operator {}", group.name);
        diagnostics.error("plan-too-large", std::move(place),
                          fmt::format("its plan is too large to be shown sound: {}", *broken),
                          "split its tensors, or choose a target with more LDM");
        continue;
      }
      check(!broken, fmt::format("the plan of {} is unsound: {}", group.name, broken.value_or("")));
    }
    if (step.plan() != nullptr) warn_of_unaligned(step, target, diagnostics);
    program.steps.push_back(std::move(step));
  }
  if (diagnostics.has_errors()) return Failed{};
  program.memory = plan_memory(fused, program.steps, target.dram_line_bytes);
  return program;
}

std::int64_t ldm_for_buffers(const Program& program) {
  std::int64_t least = program.target.ldm_available();
  for (const ProgramStep& step : program.steps) {
    if (const Plan* plan = step.plan()) least = std::min(least, ldm_for_buffers(plan->nest, program.target));
  }
  return least;
}

}  // namespace stowage
