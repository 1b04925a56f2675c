// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/evaluate.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "driver/athread/athread_schedule.h"
#include "driver/session/learned_elsewhere.h"
#include "driver/text/text_table.h"
#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "inspector/state/background.h"
#include "inspector/state/planned_group.h"
#include "inspector/state/told.h"
#include "lowering/program/launches.h"
#include "lowering/program/program.h"

namespace stowage::inspector {

namespace {

/// A step of a network of its own: nothing but what pictures of the kernel need.
ProgramStep step_alone(const FusedOperator& group, StepWork work) {
  ProgramStep only;
  only.group.name = group.name;
  only.group.template_name = group.template_name;
  only.group.is_view = group.is_view;
  only.work = std::move(work);
  return only;
}

/// A network of nothing but these kernels, so that every pane's pictures can be made of it.
PlanPtr alone(const Program& program, IdVector<StepId, ProgramStep> steps, const std::string& name,
              const Target& target) {
  Compilation compilation;
  compilation.network = name;
  compilation.program.target = target;
  compilation.program.planner = program.planner;
  compilation.program.layout = program.layout;
  compilation.emitted.kernel_of_step.assign(steps.size(), "");
  compilation.program.steps = std::move(steps);
  return make_loaded_plan(std::move(compilation), "what if", "", {});
}

std::string sentence(const GroupNumbers& before, const GroupNumbers& after, const std::string& why) {
  std::string text = fmt::format("{}: {}.", speed_text(before.seconds, after.seconds), why);
  text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
  return text;
}

}  // namespace

GroupNumbers numbers_of(const Plan& plan, const Target& target) {
  const DmaTotals dma = dma_totals(plan.counts);
  return {dma.transfers,       dma.operations,   dma.bytes,
          plan.nest.ldm_bytes, plan.time.cycles, static_cast<double>(plan.time.cycles) / target.clock_hz};
}

GroupNumbers numbers_of(const std::vector<const StepPlan*>& plans, const Target& target) {
  GroupNumbers sum;
  for (const StepPlan* plan : plans) {
    const DmaTotals dma = plan->traffic();
    sum.transfers += dma.transfers;
    sum.operations += dma.operations;
    sum.bytes += dma.bytes;
    sum.ldm_bytes = std::max(sum.ldm_bytes, plan->scratchpad(target).peak_bytes);
    sum.cycles += plan->cycles();
  }
  sum.seconds = static_cast<double>(sum.cycles) / target.clock_hz;
  return sum;
}

std::vector<const StepPlan*> Evaluation::plans_before(const LoadedPlan& base) const {
  std::vector<const StepPlan*> plans;
  for (const StepId index : steps) {
    if (const StepPlan* plan = base.steps[index].step->step_plan()) plans.push_back(plan);
  }
  return plans;
}

std::vector<const StepPlan*> Evaluation::plans_after() const {
  std::vector<const StepPlan*> plans;
  for (const StepFacts& each : result->steps) {
    if (const StepPlan* plan = each.step->step_plan()) plans.push_back(plan);
  }
  return plans;
}

Schedule start_schedule(const LoadedPlan& plan, const FusedOperator& group) {
  for (const StepFacts& step : plan.steps) {
    if (step.plan == nullptr || !step.plan->is_fixed || step.step->group.operators != group.operators) continue;
    return step.plan->schedule;
  }
  return {};
}

Evaluation evaluate(const LoadedPlan& plan, StepId index, const PlanEdit& edit) {
  const std::vector<OpId>& operators = plan.steps[index].step->group.operators;
  return evaluate(plan, index, operators.front(), edit, nullptr);
}

namespace {

/// The groups that are evaluated, in execution order.
std::vector<FusedOperator> groups_at(const LoadedPlan& plan, StepId index, const Regrouped& around,
                                     const GroupChoices* choices) {
  if (!around.otherwise) return {plan.steps[index].step->group};
  check(choices != nullptr, "groups were chosen among the priced ones");
  std::vector<FusedOperator> groups;
  // Whether they can be is asked later, on the edited target.
  for (const std::vector<OpId>& operators : around.groups) {
    const CandidateGroup* candidate = choices->find(operators);
    check(candidate != nullptr, "groups were chosen among the priced ones");
    groups.push_back(candidate->group);
  }
  const GraphFacts& facts = choices->set.facts;
  std::sort(groups.begin(), groups.end(), [&](const FusedOperator& a, const FusedOperator& b) {
    return facts.of(a.operators.back()).position < facts.of(b.operators.back()).position;
  });
  return groups;
}

/// The one that holds `focus`; another where that is a view.
std::size_t shown_of(const std::vector<FusedOperator>& groups, OpId focus) {
  const auto holds_focus = [&](const FusedOperator& group) {
    return std::find(group.operators.begin(), group.operators.end(), focus) != group.operators.end();
  };
  std::size_t shown = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[shown].is_view || (holds_focus(groups[g]) && !groups[g].is_view)) {
      shown = g;
    }
  }
  return shown;
}

/// A kernel that no other one comes before is spawned: of these steps, where they stand in a program for its own from
/// `begin` on.
void spawn_first_kernels(IdVector<StepId, ProgramStep>& steps, const Program& program, StepId begin,
                         const Target& target) {
  IdVector<StepId, ProgramStep> all;
  for (StepId s; s < begin; ++s) all.push_back(program.steps[s]);
  for (const ProgramStep& step : steps) all.push_back(step);
  for (const StepId first : first_kernels(all)) {
    if (first < begin) continue;
    ProgramStep& step = steps[StepId(first.index() - begin.index())];
    step.work = launch_of(launched_by(*step.plan(), LaunchedBy::spawn, target));
  }
}

}  // namespace

Result<Target> target_to_plan(const LoadedPlan& plan, const PlanEdit& edit, Diagnostics& diagnostics) {
  auto target = edited_target(plan.compilation, edit, diagnostics);
  if (target && is_learned_elsewhere(plan.compilation, *target, diagnostics)) return Failed{};
  return target;
}

Evaluation evaluate(const LoadedPlan& plan, StepId index, OpId focus, const PlanEdit& edit,
                    const GroupChoices* choices) {
  off_window_thread("a group was planned");
  const Program& program = plan.program();
  const Graph& graph = plan.graph();
  const Regrouped around = regrouped_at(plan, edit, focus);
  const std::vector<FusedOperator> groups = groups_at(plan, index, around, choices);
  const std::size_t shown = shown_of(groups, focus);
  Evaluation evaluation;
  evaluation.step = index;
  evaluation.focus = focus;
  evaluation.edit = edit;
  evaluation.steps = around.steps;
  evaluation.regrouped = around.otherwise;
  for (const FusedOperator& group : groups) evaluation.groups.push_back(names_of(graph, group.operators));
  evaluation.shown = StepId(shown);
  evaluation.name = groups[shown].name;
  evaluation.start = start_schedule(plan, groups[shown]);
  if (groups[shown].is_view) {
    evaluation.refusal = Decision::refuse("view", "nothing is launched here");
    return evaluation;
  }

  Diagnostics diagnostics;
  const auto target = target_to_plan(plan, edit, diagnostics);
  if (!target) {
    evaluation.refusal = Decision::refuse("target", told(diagnostics.entries().front()));
    return evaluation;
  }
  const auto cost = backend_of(plan.compilation).group_cost(program.planner, *target, {});
  // Nothing of it is edited: it is not planned again, which may take the planner a second.
  const bool is_as_planned = !around.otherwise && plan.steps[index].plan != nullptr && edit.target.empty() &&
                             !edit.schedules.contains(groups[shown].name);
  IdVector<StepId, ProgramStep> steps;
  for (const FusedOperator& group : groups) {
    if (around.otherwise && group.operators.size() > 1 && !group.is_view && cost != nullptr) {
      if (GroupCost::Answer answer = cost->cost(graph, group); !answer.decision) {
        evaluation.refusal = std::move(answer.decision);
        return evaluation;
      }
    }
    const auto fixed = edit.schedules.find(group.name);
    const Schedule start = start_schedule(plan, group);
    const Schedule* const wanted = fixed != edit.schedules.end() ? &fixed->second
                                   : start != Schedule{}         ? &start
                                                                 : nullptr;
    PlannedStep planned = is_as_planned ? program.steps[index].work : plan_group_of(plan, group, wanted, *target);
    if (auto* refused = std::get_if<Decision>(&planned)) {
      evaluation.refusal = std::move(*refused);
      return evaluation;
    }
    steps.push_back(step_alone(group, std::get<StepWork>(std::move(planned))));
  }
  const ProgramStep& step = steps[evaluation.shown];
  if (step.plan() == nullptr) {
    evaluation.refusal = Decision::refuse(
        "no-loop-nest", fmt::format("{} is {}: it has no schedule to edit", step.group.name, step.kind().without_nest));
    return evaluation;
  }
  spawn_first_kernels(steps, program, around.steps.front(), *target);
  const auto edited = edit.schedules.find(evaluation.name);
  const Schedule& fixed = edited != edit.schedules.end() ? edited->second : evaluation.start;
  if (fixed.launch == LaunchedBy::barrier && step.plan()->nest.launch == LaunchedBy::spawn) {
    evaluation.refusal =
        Decision::refuse("nothing-before", "no kernel is before it, behind which it could begin", "launch = \"spawn\"");
    return evaluation;
  }
  evaluation.controls = group_controls(group_stages(graph, groups[shown]), step.plan()->nest.stages,
                                       step.plan()->schedule, fixed, *target);
  evaluation.result = alone(program, std::move(steps), evaluation.name, *target);
  return evaluation;
}

std::string verdict(const Plan& before, const Target& target_before, const Plan& after, const Target& target_after,
                    Units units) {
  const GroupNumbers a = numbers_of(before, target_before);
  const GroupNumbers b = numbers_of(after, target_after);
  std::vector<std::string> words;
  for (const ScheduleChange& change : schedule_changes(before, after)) words.push_back(change.words);
  if (words.empty() && a == b) return "The same as the plan.";
  constexpr std::size_t maximum = 3;
  if (words.size() > maximum) {
    const std::size_t more = words.size() - maximum;
    words.resize(maximum);
    words.push_back(fmt::format("and {} more {}", more, more == 1 ? "change" : "changes"));
  }
  if (words.empty()) words.push_back("the same schedule on another target");
  std::string text = sentence(a, b, fmt::format("{}", fmt::join(words, "; ")));

  const TermChange telling = largest_change(before.time, after.time);
  if (telling.term != nullptr && a.cycles != b.cycles) {
    text +=
        fmt::format(" The term \"{}\" {} by {}", name_of(telling.term->cost), telling.cycles > 0 ? "grows" : "falls",
                    full_time_text(std::abs(telling.cycles), target_after.clock_hz, units).toStdString());
    if (a.bytes != b.bytes) {
      text += fmt::format(", DMA moves {} {}", size_text(std::abs(b.bytes - a.bytes), units).toStdString(),
                          b.bytes > a.bytes ? "more" : "less");
    }
    text += ".";
  }
  return text;
}

std::string verdict(const LoadedPlan& plan, const Evaluation& evaluation, Units units) {
  const Target& target = plan.program().target;
  const StepFacts& step = plan.steps[evaluation.step];
  if (!evaluation.regrouped && step.plan != nullptr) {
    return verdict(*step.plan, target, evaluation.plan(), evaluation.target(), units);
  }
  const GroupNumbers before = numbers_of(evaluation.plans_before(plan), target);
  const GroupNumbers after = numbers_of(evaluation.plans_after(), evaluation.target());
  Grouping groups;
  for (const StepId index : evaluation.steps) groups.push_back(plan.steps[index].step->group.operators);
  std::string text = sentence(
      before, after,
      fmt::format("groups {} instead of {}", fmt::join(evaluation.groups, " | "), groups_text(plan.graph(), groups)));
  if (before.bytes != after.bytes) {
    text += fmt::format(" DMA moves {} {}.", size_text(std::abs(after.bytes - before.bytes), units).toStdString(),
                        after.bytes > before.bytes ? "more" : "less");
  }
  return text;
}

PlanPtr plan_network(const PlanPtr& plan, const PlanEdit& edit, Diagnostics& diagnostics, std::stop_token stop,
                     const ProgressSink& progress) {
  off_window_thread("a network was planned");
  const auto target = target_to_plan(*plan, edit, diagnostics);
  if (!target) return nullptr;
  if (progress) progress("groups", 0, 0);
  auto complete = complete_edit(plan, edit, stop);
  if (!complete) return nullptr;
  FixedSchedules fixed;
  for (auto& [name, schedule] : complete->schedules) fixed.schedules[name] = fixed_schedule(std::move(schedule));
  for (std::vector<std::string>& operators : complete->groups) fixed.groups.push_back({std::move(operators), {}});
  auto again =
      plan_again(plan->compilation, *target, fixed, diagnostics, stop, progress, {.cache = default_cost_cache()});
  if (!again) return nullptr;
  return make_loaded_plan(*std::move(again), plan->origin + " (what if)", "", diagnostics, stop);
}

}  // namespace stowage::inspector
