// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/simulate_program.h"

#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/parallel.h"
#include "driver/athread/athread_backend.h"
#include "driver/athread/nest_timeline.h"
#include "lowering/evaluate/time_terms.h"

namespace stowage {
namespace {

std::vector<SimulatedStep::Part> parts_of(const CoreTimes& last, std::int64_t launch_cycles) {
  return {{"launch", launch_cycles},
          {"compute", last.computing},
          {"issue", last.issuing},
          {"wait for get", last.waiting_for_gets, true},
          {"wait for put", last.waiting_for_puts, true},
          {"wait at barrier", last.waiting_at_barriers},
          {"end of transfers", last.idle, true}};
}

}  // namespace

SimulatedStep simulated_step(const Plan& plan, const Target& target, const Simulation& simulation) {
  SimulatedStep step;
  const TermTimes terms = term_times(plan, simulation);
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const auto kind = static_cast<TimeTermKind>(t);
    step.terms.push_back({std::string(name_of(kind)), terms[t].closed_form, terms[t].simulated});
  }
  step.cycles = simulation.cycles;
  const CoreTimes& last = simulation.cores.at(simulation.last_core());
  step.parts = parts_of(last, simulation.launch_cycles);
  std::int64_t computing = 0;
  for (const CoreTimes& core : simulation.cores) computing += core.computing;
  step.engines = {{"cores", computing, simulation.cycles * target.cores.count},
                  {"dma", simulation.dma.busy_cycles, simulation.cycles}};
  for (const StatementTimes& times : simulation.statements) {
    step.statements.push_back(
        {times.statement, statement_name(plan.nest, times.statement), times.executions, times.cycles, times.waited});
  }
  step.dma_transfers = simulation.dma.transfers;
  step.dma_operations = simulation.dma.operations;
  step.dma_bytes = simulation.dma.bytes;
  step.dma_busy_cycles = simulation.dma.busy_cycles;
  step.events = simulation.events;
  step.steps = simulation.steps;
  return step;
}

namespace {

/// Of a kind that simulates no events: the closed form says all.
SimulatedStep step_without_cores(const StepPlan& plan, const Target& target) {
  SimulatedStep step;
  step.cycles = plan.cycles();
  step.parts = parts_of({}, 0);
  for (std::size_t t = 0; t < time_terms; ++t)
    step.terms.push_back({std::string(name_of(static_cast<TimeTermKind>(t))), 0, 0});
  step.engines = {{"cores", 0, step.cycles * target.cores.count}, {"dma", 0, step.cycles}};
  return step;
}

/// Of a step that something else does than kernels do.
bool is_done_by_others(const ProgramStep& step) { return step.step_plan() != nullptr && !step.kind().is_kernel; }

/// Whoever works in one step is an engine of all of them, which is idle in the others.
void add_others(const Program& program, IdVector<StepId, SimulatedStep>& steps) {
  std::set<std::string_view> others;
  for (const ProgramStep& step : program.steps) {
    if (is_done_by_others(step)) others.insert(step.kind().by);
  }
  for (const StepId s : steps.ids()) {
    if (program.steps[s].step_plan() == nullptr) continue;
    for (const std::string_view by : others) {
      const std::int64_t busy = program.steps[s].kind().by == by ? steps[s].cycles : 0;
      steps[s].parts.push_back({std::string(by), busy});
      steps[s].terms.push_back({std::string(by), busy, busy});
      steps[s].engines.push_back({std::string(by), busy, steps[s].cycles});
    }
  }
}

/// Its terms one behind the other, as if nothing overlapped, on a track of its own.
StepTimeline timeline_without_cores(const StepPlan& plan, std::string_view by) {
  StepTimeline timeline;
  timeline.cycles = plan.cycles();
  timeline.tracks.push_back({std::string(by), std::string(by), 0});
  std::int64_t from = 0;
  for (const PlanTerm& term : plan.terms()) {
    if (term.cycles == 0) continue;
    timeline.slices.push_back({0, static_cast<int>(timeline.labels.size()), from, from + term.cycles});
    timeline.labels.push_back({term.name, "compute", std::nullopt});
    from += term.cycles;
  }
  return timeline;
}

/// Of a step that is refused; a stop reports nothing.
Failed refuse(const ProgramStep& step, const Decision& decision, const WorkContext& work) {
  if (!work.stop.stop_requested()) {
    work.diagnostics.error(decision.rule, {}, fmt::format("'{}': {}", step.group.name, decision.reason), decision.flip);
  }
  return {};
}

}  // namespace

Result<IdVector<StepId, SimulatedStep>> AthreadBackend::simulate(const Program& program, DmaOrder order,
                                                                 const WorkContext& work) const {
  SimulationOptions options;
  options.dma_order = order;
  IdVector<StepId, SimulatedStep> steps;
  bool refused = false;
  for (const ProgramStep& step : program.steps) {
    if (work.progress) work.progress("simulate", steps.size(), program.steps.size());
    const Plan* const plan = step.plan();
    steps.push_back(is_done_by_others(step) ? step_without_cores(*step.step_plan(), program.target) : SimulatedStep{});
    if (plan == nullptr) continue;
    const Simulated simulated = stowage::simulate(plan->nest, program.target, options, work.stop);
    if (work.stop.stop_requested()) return Failed{};
    if (const auto* simulation = std::get_if<Simulation>(&simulated)) {
      steps.back() = simulated_step(*plan, program.target, *simulation);
    } else {
      refuse(step, std::get<Decision>(simulated), work);
      refused = true;
    }
  }
  if (refused) return Failed{};
  add_others(program, steps);
  return steps;
}

Result<IdVector<StepId, std::int64_t>> AthreadBackend::evaluate(const Program& program, const Evaluator& evaluator,
                                                                unsigned threads, const WorkContext& work) const {
  IdVector<StepId, Evaluated> evaluated(program.steps.size(), std::int64_t{0});
  parallel_for(evaluated.size(), threads, work.stop, [&](std::size_t number) {
    const StepId i(number);
    const Plan* const plan = program.steps[i].plan();
    if (is_done_by_others(program.steps[i])) evaluated[i] = program.steps[i].step_plan()->cycles();
    if (plan != nullptr) evaluated[i] = evaluated_cycles(*plan, program.target, evaluator, work.stop);
  });
  if (work.stop.stop_requested()) return Failed{};
  IdVector<StepId, std::int64_t> cycles;
  for (const StepId i : evaluated.ids()) {
    if (const auto* refused = std::get_if<Decision>(&evaluated[i])) return refuse(program.steps[i], *refused, work);
    cycles.push_back(std::get<std::int64_t>(evaluated[i]));
  }
  return cycles;
}

Result<StepTimeline> AthreadBackend::timeline(const Program& program, StepId step, DmaOrder order,
                                              const WorkContext& work) const {
  const ProgramStep& shown = program.steps.at(step);
  if (is_done_by_others(shown)) return timeline_without_cores(*shown.step_plan(), shown.kind().by);
  const Plan* const plan = shown.plan();
  if (plan == nullptr) return StepTimeline{};
  Timeline timeline;
  SimulationOptions options;
  options.timeline = &timeline;
  options.dma_order = order;
  const Simulated simulated = stowage::simulate(plan->nest, program.target, options, work.stop);
  if (const auto* decision = std::get_if<Decision>(&simulated)) return refuse(program.steps[step], *decision, work);
  return step_timeline(plan->nest, program.target, std::get<Simulation>(simulated), timeline);
}

}  // namespace stowage
