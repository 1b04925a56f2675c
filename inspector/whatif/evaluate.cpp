// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/evaluate.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "driver/text_table.h"
#include "lowering/planner.h"

namespace stowage::inspector {

namespace {

const Planner& planner_of(const Program& program) {
  const Planner* planner = find_planner(program.planner);
  check(planner != nullptr, "a plan names a planner that there is not");
  return *planner;
}

/// A plan that a person fixed in part does not tell in which part; all of it is fixed then.
Schedule start_of(const ProgramStep& step, const Planner& planner, const Target& target) {
  const Planned alone = plan_group(step.group.name, step.plan->nest.stages, {}, planner, target, {});
  const Plan* plan = std::get_if<Plan>(&alone);
  return plan != nullptr && plan->schedule == step.plan->schedule ? Schedule{} : step.plan->schedule;
}

/// A network of nothing but this kernel, so that every pane's pictures can be made of it.
PlanPtr alone(const Program& program, const ProgramStep& step, Plan plan, const Target& target) {
  Compilation compilation;
  compilation.network = step.group.name;
  compilation.program.target = target;
  compilation.program.planner = program.planner;
  ProgramStep only;
  only.group.name = step.group.name;
  only.group.template_name = step.group.template_name;
  only.plan = std::move(plan);
  compilation.program.steps.push_back(std::move(only));
  compilation.emitted.kernel_of_step = {""};
  return make_loaded_plan(std::move(compilation), "what if", "", {});
}

std::int64_t cycles_of(const Plan& plan, const std::string& term) {
  for (const TimeTerm& entry : plan.time.terms) {
    if (entry.name == term) return entry.cycles;
  }
  return 0;
}

}  // namespace

GroupNumbers numbers_of(const Plan& plan, const Target& target) {
  const DmaTotals dma = dma_totals(plan.counts);
  return {dma.transfers,       dma.operations,   dma.bytes,
          plan.nest.ldm_bytes, plan.time.cycles, static_cast<double>(plan.time.cycles) / target.clock_hz};
}

Evaluation evaluate(const LoadedPlan& plan, int index, const PlanEdit& edit) {
  const ProgramStep& step = *plan.steps[static_cast<std::size_t>(index)].step;
  const Planner& planner = planner_of(plan.program());
  Evaluation evaluation;
  evaluation.step = index;
  evaluation.edit = edit;
  evaluation.start = start_of(step, planner, plan.program().target);
  Diagnostics diagnostics;
  const auto target = edited_target(plan.program().target, edit, diagnostics);
  if (!target) {
    evaluation.refusal = Decision::refuse("target", diagnostics.entries().front().message);
    return evaluation;
  }
  const auto fixed = edit.schedules.find(step.group.name);
  const StageList& stages = step.plan->nest.stages;
  Planned planned = plan_group(step.group.name, stages,
                               fixed != edit.schedules.end() ? fixed->second : evaluation.start, planner, *target, {});
  if (auto* refused = std::get_if<Decision>(&planned)) {
    evaluation.refusal = std::move(*refused);
    return evaluation;
  }
  if (const auto broken = verify(std::get<Plan>(planned).nest, *target)) {
    evaluation.refusal = Decision::refuse("verify", *broken);
    return evaluation;
  }
  evaluation.controls = group_controls(stages, std::get<Plan>(planned).schedule);
  evaluation.result = alone(plan.program(), step, std::get<Plan>(std::move(planned)), *target);
  return evaluation;
}

std::string verdict(const Plan& before, const Target& target_before, const Plan& after, const Target& target_after) {
  const GroupNumbers a = numbers_of(before, target_before);
  const GroupNumbers b = numbers_of(after, target_after);
  std::vector<std::string> words;
  for (const ScheduleChange& change : schedule_changes(before, after)) words.push_back(change.words);
  if (words.empty() && a == b) return "The same as the plan.";
  constexpr std::size_t most = 3;
  if (words.size() > most) {
    const std::size_t more = words.size() - most;
    words.resize(most);
    words.push_back(fmt::format("and {} more {}", more, more == 1 ? "change" : "changes"));
  }
  if (words.empty()) words.push_back("the same schedule on another target");
  std::string text = fmt::format("{}: {}.", speed_text(a.seconds, b.seconds), fmt::join(words, "; "));
  text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);

  const TimeTerm* telling = nullptr;
  std::int64_t largest = 0;
  for (const TimeTerm& term : after.time.terms) {
    const std::int64_t change = term.cycles - cycles_of(before, term.name);
    if (std::abs(change) > std::abs(largest)) {
      largest = change;
      telling = &term;
    }
  }
  if (telling != nullptr && a.cycles != b.cycles) {
    text += fmt::format(" The term \"{}\" {} by {} cycles", telling->name, largest > 0 ? "grows" : "falls",
                        grouped_digits(std::abs(largest)));
    if (a.bytes != b.bytes) {
      text += fmt::format(", DMA moves {} {}", bytes_text(std::abs(b.bytes - a.bytes)),
                          b.bytes > a.bytes ? "more" : "less");
    }
    text += ".";
  }
  return text;
}

PlanPtr plan_network(const LoadedPlan& plan, const PlanEdit& edit, Diagnostics& diagnostics, std::stop_token stop,
                     const ProgressSink& progress) {
  const auto target = edited_target(plan.program().target, edit, diagnostics);
  if (!target) return nullptr;
  FixedSchedules fixed;
  for (const StepFacts& step : plan.steps) {
    if (stop.stop_requested()) return nullptr;
    if (step.plan == nullptr) continue;
    const std::string& name = step.step->group.name;
    const auto edited = edit.schedules.find(name);
    Schedule schedule = edited != edit.schedules.end()
                            ? edited->second
                            : start_of(*step.step, planner_of(plan.program()), plan.program().target);
    if (schedule != Schedule{}) fixed.schedules.emplace(name, std::move(schedule));
  }
  auto again = plan_again(plan.compilation, *target, fixed, diagnostics, stop, progress);
  if (!again) return nullptr;
  return make_loaded_plan(*std::move(again), plan.origin + " (what if)", "", diagnostics, stop);
}

}  // namespace stowage::inspector
