// SPDX-License-Identifier: Apache-2.0
#include "driver/backend/backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "fusion/fold/channel_blocks.h"

namespace stowage {

namespace {

Failed no_simulator(std::string_view family, Diagnostics& diagnostics) {
  diagnostics.error("no-simulator", {}, fmt::format("family '{}' has no simulator", family),
                    "`stowage explain` tells the time that its planner predicts");
  return Failed{};
}

}  // namespace

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
