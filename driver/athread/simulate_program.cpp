// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/simulate_program.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "driver/athread/athread_backend.h"

namespace stowage {

namespace {

std::string text_of(const LoopNest& nest, int id) {
  const Stmt* const statement = find_statement(nest, id);
  check(statement != nullptr, "times of a statement that there is not");
  if (const auto* dma = std::get_if<Dma>(&statement->node)) {
    return fmt::format("{} {}", dma->direction == DmaDirection::get ? "get" : "put",
                       nest.tensors[static_cast<std::size_t>(dma->nest_tensor)].name);
  }
  if (const auto* fill = std::get_if<Fill>(&statement->node)) {
    return fmt::format("fill {}", nest.buffers[static_cast<std::size_t>(fill->buffer)].name);
  }
  const auto& compute = std::get<Compute>(statement->node);
  return fmt::format("compute {}{}", nest.stages.stages[static_cast<std::size_t>(compute.stage)].name,
                     compute.part == Compute::Part::finish ? " finish" : "");
}

}  // namespace

SimulatedStep simulated_step(const LoopNest& nest, const Target& target, const Simulation& simulation) {
  SimulatedStep step;
  step.cycles = simulation.cycles;
  const CoreTimes& last = simulation.cores.at(simulation.last_core());
  step.parts = {{"launch", simulation.launch_cycles},
                {"compute", last.computing},
                {"issue", last.issuing},
                {"wait for get", last.waiting_for_gets, true},
                {"wait for put", last.waiting_for_puts, true},
                {"wait at barrier", last.waiting_at_barriers},
                {"end of transfers", last.idle, true}};
  std::int64_t computing = 0;
  for (const CoreTimes& core : simulation.cores) computing += core.computing;
  step.engines = {{"cores", computing, simulation.cycles * target.cores.count},
                  {"dma", simulation.dma.busy_cycles, simulation.cycles}};
  for (const StatementTimes& times : simulation.statements) {
    step.statements.push_back(
        {times.statement, text_of(nest, times.statement), times.executions, times.cycles, times.waited});
  }
  step.dma_bytes = simulation.dma.bytes;
  step.dma_busy_cycles = simulation.dma.busy_cycles;
  step.events = simulation.events;
  step.steps = simulation.steps;
  return step;
}

Result<std::vector<SimulatedStep>> AthreadBackend::simulate(const Program& program, const WorkContext& work) const {
  std::vector<SimulatedStep> steps;
  bool refused = false;
  for (const ProgramStep& step : program.steps) {
    if (work.progress) work.progress("simulate", steps.size(), program.steps.size());
    const Plan* const plan = step.plan();
    steps.emplace_back();
    if (plan == nullptr) continue;
    const Simulated simulated = stowage::simulate(plan->nest, program.target, {}, work.stop);
    if (work.stop.stop_requested()) return Failed{};
    if (const auto* simulation = std::get_if<Simulation>(&simulated)) {
      steps.back() = simulated_step(plan->nest, program.target, *simulation);
      continue;
    }
    const auto& decision = std::get<Decision>(simulated);
    work.diagnostics.error(decision.rule, {}, fmt::format("'{}': {}", step.group.name, decision.reason), decision.flip);
    refused = true;
  }
  if (refused) return Failed{};
  return steps;
}

}  // namespace stowage
