// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/plan_step.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "fusion/groups/group.h"
#include "lowering/program/canonical_stages.h"
#include "lowering/program/launches.h"
#include "lowering/program/library_plan.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/plan_choices.h"
#include "lowering/program/plan_group.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

/// Of a group of which nothing is fixed; equal groups are searched once.
Planned plan_freely(const FusedOperator& group, const StageList& stages, const Planner& planner, const Target& target,
                    TraceSink trace, PlanChoices& choices) {
  const CanonicalStages canonical = canonical_stages(stages);
  auto known = choices.find(canonical.text);
  if (!known) {
    choices.add(canonical.text, choose_plan(canonical, planner, target));
    known = choices.find(canonical.text);
  }
  PlanChoice choice = with_original_names(*known, canonical, group.name);
  for (TraceRecord& record : choice.records) trace.add(std::move(record));
  Planned planned = plan_chosen(group.name, stages, choice.schedule, planner, target, trace);
  if (auto* const plan = std::get_if<Plan>(&planned)) plan->certificate = choice.certificate;
  return planned;
}

/// The call of a library for a group, where programs may call one, and it takes less than what was planned. The trace
/// says why or why not, of what multiplies at all.
std::optional<StepWork> call_of(const Graph& graph, const FusedOperator& group, const Planned& planned,
                                bool nothing_fixed, const Planner& planner, const Target& target, TraceSink trace) {
  if (target.use_library.empty() || multiply_adds(group_stages(graph, group)) == 0) return std::nullopt;
  const auto judged = [&](bool computes, std::string_view rule, const std::string& reason) {
    trace.add(group.name, LibraryJudged{target.use_library, computes, std::string(rule), reason});
  };
  if (!nothing_fixed) {
    judged(false, "library-fixed", "a schedule is given for it");
    return std::nullopt;
  }
  auto call = library_call(graph, group, planned, first_launch_cycles(planner, target), target);
  if (const auto* refused = std::get_if<Decision>(&call)) {
    judged(false, refused->rule, refused->reason);
    return std::nullopt;
  }
  LibraryCall step = std::get<LibraryCall>(std::move(call));
  judged(true, library_cost_rule, step.plan->reason());
  return StepWork(std::move(step));
}

/// The plan of a group, or why it has none: neither of the LDM nor, of an operator alone of which nothing is fixed, of
/// a library or the management core.
PlannedStep work_of(const Graph& graph, const FusedOperator& group, Planned planned, bool nothing_fixed,
                    const Planner& planner, const Target& target, TraceSink trace) {
  if (auto call = call_of(graph, group, planned, nothing_fixed, planner, target, trace)) return *std::move(call);
  std::optional<Decision> refused;
  if (auto* decision = std::get_if<Decision>(&planned)) {
    refused = std::move(*decision);
  } else {
    const LoopNest& nest = std::get<Plan>(planned).nest;
    const auto broken = broken_promise(nest, target);
    if (broken && broken->rule == unchecked_rule) {
      refused = Decision::refuse(std::string(too_large_rule),
                                 fmt::format("its plan is too large to be shown sound: {}", text_of(*broken)));
    } else {
      check(!broken, fmt::format("the plan of {} is unsound: {}", group.name, broken ? text_of(*broken) : ""));
    }
  }
  if (!refused) return launch_of(std::get<Plan>(std::move(planned)));
  const bool is_too_large = refused->rule == too_large_rule;  // which is no matter of the LDM
  if (group.operators.size() > 1 || !nothing_fixed || is_too_large) return *std::move(refused);
  auto managed = plan_without_ldm(group_stages(graph, group), *std::move(refused), target);
  if (auto* decision = std::get_if<Decision>(&managed)) return std::move(*decision);
  return StepWork(ManagementStep{std::make_shared<const ManagementPlan>(std::get<ManagementPlan>(std::move(managed)))});
}

}  // namespace

PlannedStep plan_step(const Graph& graph, const FusedOperator& group, const Schedule* fixed, const Planner& planner,
                      const Target& target, TraceSink trace, PlanChoices* choices, const std::stop_token& over) {
  if (group.is_view) return StepWork(ViewStep{});
  PlanChoices own;
  const StageList stages = group_stages(graph, group);
  Planned planned = fixed != nullptr
                        ? plan_group(group.name, stages, *fixed, planner, target, trace, over)
                        : plan_freely(group, stages, planner, target, trace, choices != nullptr ? *choices : own);
  PlannedStep step = work_of(graph, group, std::move(planned), fixed == nullptr, planner, target, trace);
  const auto* const work = std::get_if<StepWork>(&step);
  if (const auto* managed = work != nullptr ? std::get_if<ManagementStep>(work) : nullptr) {
    const ManagementPlan& plan = *managed->plan;
    trace.add(group.name, GivenToManagementCore{plan.refused().rule, plan.refused().reason, plan.cycles()});
  }
  return step;
}

}  // namespace stowage
