// SPDX-License-Identifier: Apache-2.0
#include "lowering/evaluate/cost_predictor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "core/check.h"
#include "lowering/time/cycle_limit.h"

namespace stowage {
namespace {

constexpr std::size_t fewest_groups = 5;  // one of them is held out

using Said = std::function<std::int64_t(const CostSample&)>;

PredictionErrors errors_of(const std::vector<const CostSample*>& samples, const Said& said) {
  PredictionErrors result;
  result.samples = static_cast<std::int64_t>(samples.size());
  std::set<std::size_t> groups;
  std::vector<double> errors;
  for (const CostSample* sample : samples) {
    groups.insert(sample->group);
    const auto simulated = static_cast<double>(sample->simulated_cycles);
    errors.push_back(std::abs(static_cast<double>(said(*sample)) - simulated) / simulated);
  }
  result.groups = static_cast<std::int64_t>(groups.size());
  if (errors.empty()) return result;
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double share) {
    return errors[std::min(errors.size() - 1, static_cast<std::size_t>(share * static_cast<double>(errors.size())))];
  };
  result.median = at(0.5);
  result.of_95_percent = at(0.95);
  result.largest = errors.back();
  return result;
}

/// Of a fifth of the groups, at least one.
std::set<std::size_t> groups_held_out(const std::vector<CostSample>& samples, std::uint64_t seed) {
  std::set<std::size_t> all;
  for (const CostSample& sample : samples) all.insert(sample.group);
  check(all.size() >= fewest_groups, "too few groups to hold some out");
  std::vector<std::size_t> groups(all.begin(), all.end());
  std::mt19937_64 random(seed);
  // std::shuffle may differ from library to library.
  for (std::size_t i = groups.size(); i > 1; --i) std::swap(groups[i - 1], groups[random() % i]);
  return {groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(groups.size() / fewest_groups)};
}

double log_ratio(const CostSample& sample) {
  const std::int64_t simulated = sample.simulated_cycles - sample.features.launch_cycles;
  return std::log(static_cast<double>(std::max<std::int64_t>(1, simulated)) /
                  static_cast<double>(std::max<std::int64_t>(1, sample.features.base_cycles)));
}

}  // namespace

std::int64_t predicted_cycles(const CostPredictor& predictor, const PlanFeatures& features) {
  // A file from elsewhere may say anything; what is learned is near one.
  constexpr double largest_ratio = 1000;
  const double ratio = std::clamp(std::exp(predictor.ratio.value(features.values)), 1 / largest_ratio, largest_ratio);
  const double cycles = static_cast<double>(features.base_cycles) * ratio;
  const auto rounded = static_cast<std::int64_t>(std::llround(std::min(cycles, static_cast<double>(cycle_limit))));
  return std::min(features.launch_cycles + rounded, cycle_limit - 1);
}

CostPredictor train_predictor(const std::vector<CostSample>& samples, std::uint64_t seed) {
  CostPredictor predictor;
  predictor.seed = seed;
  const std::set<std::size_t> held = groups_held_out(samples, seed);
  std::vector<std::vector<double>> rows;
  std::vector<double> wanted;
  std::vector<const CostSample*> trained;
  std::vector<const CostSample*> held_out;
  std::vector<const CostSample*> chosen;
  for (const CostSample& sample : samples) {
    if (held.contains(sample.group)) {
      held_out.push_back(&sample);
      if (sample.is_chosen) chosen.push_back(&sample);
      continue;
    }
    trained.push_back(&sample);
    rows.push_back(sample.features.values);
    wanted.push_back(log_ratio(sample));
  }
  predictor.ratio = boosted_trees(rows, wanted, BoostingOptions{});
  const Said predicted = [&](const CostSample& sample) { return predicted_cycles(predictor, sample.features); };
  const Said closed = [](const CostSample& sample) {
    return sample.features.launch_cycles + sample.features.closed_cycles;
  };
  predictor.trained_with = errors_of(trained, predicted);
  predictor.held_out = errors_of(held_out, predicted);
  predictor.held_out_chosen = errors_of(chosen, predicted);
  predictor.closed_form = errors_of(held_out, closed);
  return predictor;
}

}  // namespace stowage
