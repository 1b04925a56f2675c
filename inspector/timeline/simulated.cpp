// SPDX-License-Identifier: Apache-2.0
#include "inspector/timeline/simulated.h"

#include "inspector/look/look.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

std::string key_of(const LoadedPlan& plan, std::optional<StepId> step) {
  const StepFacts* const facts = plan.step(step);
  if (facts == nullptr || facts->plan == nullptr) return {};
  return facts->text.text + to_toml(plan.program().target);
}

SimulatedGroup simulate_group(const LoadedPlan& plan, std::optional<StepId> step, const std::stop_token& stop) {
  off_window_thread("a group was simulated");
  const StepFacts& facts = *plan.step(step);
  Timeline timeline;
  SimulationOptions options;
  options.timeline = &timeline;
  options.recording = Recording::with_repeats;
  Simulated simulated = simulate(facts.plan->nest, plan.program().target, options, stop);
  if (const auto* refused = std::get_if<Decision>(&simulated)) return {nullptr, qt(refused->reason)};
  return {std::make_shared<const TimelineTracks>(
              timeline_tracks(facts.plan->nest, std::get<Simulation>(std::move(simulated)), std::move(timeline))),
          {}};
}

SimulatedSteps simulate_steps(const LoadedPlan& plan, const std::stop_token& stop, const ProgressSink& progress) {
  off_window_thread("a network was simulated");
  SimulatedSteps steps;
  for (const StepFacts& step : plan.steps) {
    if (progress) progress("simulate", steps.size(), plan.steps.size());
    steps.push_back(std::nullopt);
    if (step.plan == nullptr) continue;
    Simulated simulated = simulate(step.plan->nest, plan.program().target, {}, stop);
    if (stop.stop_requested()) return {};
    if (auto* simulation = std::get_if<Simulation>(&simulated)) steps.back() = std::move(*simulation);
  }
  return steps;
}

const SimulatedGroup* SimulatedGroups::find(const std::string& key) const {
  for (const auto& [known, group] : kept_) {
    if (known == key) return &group;
  }
  return nullptr;
}

void SimulatedGroups::keep(const std::string& key, SimulatedGroup group) {
  constexpr std::size_t most = 24;
  kept_.emplace_front(key, std::move(group));
  if (kept_.size() > most) kept_.pop_back();
}

}  // namespace stowage::inspector
