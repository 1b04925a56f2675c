// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/cost_samples.h"

#include <iterator>
#include <optional>
#include <random>
#include <variant>

#include "lowering/model/buffer_slots.h"
#include "lowering/program/plan_choices.h"
#include "lowering/program/plan_group.h"
#include "lowering/simulate/simulate.h"

namespace stowage {
namespace {

std::optional<CostSample> sample_of(const Plan& plan, const Target& target, const std::stop_token& stop) {
  const ExecutionCosts costs(plan.nest, target);
  const RequestSequences requests = request_sequences(plan.nest, costs, Sharing::equal);
  const Simulated simulated = simulate(requests, costs.launch_cycles(), stop);
  const auto* simulation = std::get_if<Simulation>(&simulated);
  if (simulation == nullptr) return std::nullopt;
  return CostSample{0, false, features_of(plan, target, requests), simulation->cycles};
}

/// Another schedule near a complete one. What follows from what was changed is left to the planner.
Schedule variant_of(const Schedule& complete, std::mt19937_64& random) {
  Schedule variant = complete;
  variant.dma.clear();
  variant.order.reset();
  const auto drawn = [&](auto& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(random() % map.size()));
  };
  for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
    switch (random() % 4) {
      case 0:
        if (!variant.slots.empty()) {
          auto slots = drawn(variant.slots);
          slots->second = slots->second == 1 ? double_buffer_slots : 1;
        }
        break;
      case 1:
        if (!variant.sharing.empty()) drawn(variant.sharing)->second = SharedBy::core;
        break;
      default:
        if (!variant.buffer.empty()) {
          auto size = drawn(variant.buffer);
          size->second = random() % 2 == 0 ? (size->second + 1) / 2 : size->second * 2;
        }
        break;
    }
  }
  return variant;
}

}  // namespace

std::vector<CostSample> cost_samples(const CanonicalStages& group, const Planner& planner, const Target& target,
                                     std::size_t variants, std::uint64_t seed, const std::stop_token& stop) {
  std::vector<CostSample> samples;
  const PlanChoice choice = choose_plan(group, planner, target);
  const Planned chosen = plan_chosen("group", group.stages, choice.schedule, planner, target, {});
  const auto* plan = std::get_if<Plan>(&chosen);
  if (plan == nullptr) return samples;
  if (auto sample = sample_of(*plan, target, stop)) {
    sample->is_chosen = true;
    samples.push_back(*std::move(sample));
  }
  const Planned published = published_plan("group", group.stages, with_launch({}, planner, target), target);
  if (const auto* other = std::get_if<Plan>(&published)) {
    if (auto sample = sample_of(*other, target, stop)) samples.push_back(*std::move(sample));
  }
  std::mt19937_64 random(seed);
  const std::size_t maximum = samples.size() + variants;
  for (std::size_t tries = 0; tries < 3 * variants && samples.size() < maximum && !stop.stop_requested(); ++tries) {
    const Schedule schedule = variant_of(plan->schedule, random);
    const Planned variant = plan_chosen("group", group.stages, schedule, planner, target, {});
    const auto* other = std::get_if<Plan>(&variant);
    if (other == nullptr) continue;
    if (auto sample = sample_of(*other, target, stop)) samples.push_back(*std::move(sample));
  }
  if (stop.stop_requested()) samples.clear();
  return samples;
}

}  // namespace stowage
