// SPDX-License-Identifier: Apache-2.0
#include "lowering/evaluate/cost_predictor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "core/check.h"
#include "lowering/time/cycle_limit.h"

namespace stowage {
namespace {

constexpr std::size_t fewest_groups = 5;  // one of them is held out

/// In which those that are trained with are predicted, each by trees of the others.
constexpr std::size_t doubt_parts = 5;

/// Where a prediction of the parts was as far off as this, plans of so much doubt are not trusted: half of what is
/// allowed, because plans to come may be stranger than those that were seen.
constexpr double trusted_error = error_limit / 2;

/// So that small errors do not count for more than they are worth.
constexpr double least_error = 0.001;

using SampleRefs = std::vector<const CostSample*>;
/// Nothing where the sample was left to the simulation.
using Said = std::function<std::optional<std::int64_t>(const CostSample&)>;

double error_of(std::int64_t said, const CostSample& sample) {
  const auto simulated = static_cast<double>(sample.simulated_cycles);
  return std::abs(static_cast<double>(said) - simulated) / simulated;
}

PredictionErrors errors_of(const SampleRefs& samples, const Said& said) {
  PredictionErrors result;
  result.samples = static_cast<std::int64_t>(samples.size());
  std::set<std::size_t> groups;
  std::vector<double> errors;
  for (const CostSample* sample : samples) {
    groups.insert(sample->group);
    if (const auto cycles = said(*sample)) errors.push_back(error_of(*cycles, *sample));
  }
  result.predicted = static_cast<std::int64_t>(errors.size());
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

/// In an order that the seed draws.
std::vector<std::size_t> drawn_groups(const SampleRefs& samples, std::uint64_t seed) {
  std::set<std::size_t> all;
  for (const CostSample* sample : samples) all.insert(sample->group);
  std::vector<std::size_t> groups(all.begin(), all.end());
  std::mt19937_64 random(seed);
  // std::shuffle may differ from library to library.
  for (std::size_t i = groups.size(); i > 1; --i) std::swap(groups[i - 1], groups[random() % i]);
  return groups;
}

double log_ratio(const CostSample& sample) {
  const std::int64_t simulated = sample.simulated_cycles - sample.features.launch_cycles;
  return std::log(static_cast<double>(std::max<std::int64_t>(1, simulated)) /
                  static_cast<double>(std::max<std::int64_t>(1, sample.features.base_cycles)));
}

BoostedTrees grown(const SampleRefs& samples, const std::function<double(const CostSample&)>& wanted) {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (const CostSample* sample : samples) {
    rows.push_back(sample->features.values);
    values.push_back(wanted(*sample));
  }
  return boosted_trees(rows, values, BoostingOptions{});
}

/// Of each sample, what trees say of it that were grown on the groups of other parts.
std::map<const CostSample*, double> said_by_others(const SampleRefs& samples, std::uint64_t seed,
                                                   const std::function<double(const CostSample&)>& wanted) {
  const std::vector<std::size_t> groups = drawn_groups(samples, seed);
  std::map<std::size_t, std::size_t> part_of;
  for (std::size_t g = 0; g < groups.size(); ++g) part_of[groups[g]] = g % doubt_parts;
  std::map<const CostSample*, double> said;
  for (std::size_t part = 0; part < std::min(doubt_parts, groups.size()); ++part) {
    SampleRefs others;
    for (const CostSample* sample : samples) {
      if (part_of.at(sample->group) != part) others.push_back(sample);
    }
    const BoostedTrees trees = grown(others, wanted);
    for (const CostSample* sample : samples) {
      if (part_of.at(sample->group) == part) said[sample] = trees.value(sample->features.values);
    }
  }
  return said;
}

std::int64_t cycles_by(double log_of_ratio, const PlanFeatures& features) {
  // A file from elsewhere may say anything; what is learned is near one.
  constexpr double largest_ratio = 1000;
  const double ratio = std::clamp(std::exp(log_of_ratio), 1 / largest_ratio, largest_ratio);
  const double cycles = static_cast<double>(features.base_cycles) * ratio;
  const auto rounded = static_cast<std::int64_t>(std::llround(std::min(cycles, static_cast<double>(cycle_limit))));
  return std::min(features.launch_cycles + rounded, cycle_limit - 1);
}

/// From the samples that are trained with alone.
void learn_doubt(CostPredictor& predictor, const SampleRefs& trained) {
  std::map<const CostSample*, double> errors;
  for (const auto& [sample, ratio] : said_by_others(trained, predictor.seed, log_ratio)) {
    errors[sample] = error_of(cycles_by(ratio, sample->features), *sample);
  }
  const auto log_error = [&](const CostSample& sample) { return std::log(errors.at(&sample) + least_error); };
  predictor.doubt = grown(trained, log_error);
  double maximum = -std::numeric_limits<double>::max();
  double least_wrong = std::numeric_limits<double>::max();
  for (const auto& [sample, doubt] : said_by_others(trained, predictor.seed + 1, log_error)) {
    maximum = std::max(maximum, doubt);
    if (errors.at(sample) > trusted_error) least_wrong = std::min(least_wrong, doubt);
  }
  // More doubt than was ever seen is no reason for trust either.
  predictor.doubted_from = std::min(least_wrong, std::nextafter(maximum, std::numeric_limits<double>::max()));
}

}  // namespace

bool is_doubtful(const CostPredictor& predictor, const PlanFeatures& features) {
  return predictor.doubt.value(features.values) >= predictor.doubted_from;
}

std::int64_t predicted_cycles(const CostPredictor& predictor, const PlanFeatures& features) {
  return cycles_by(predictor.ratio.value(features.values), features);
}

CostPredictor train_predictor(const std::vector<CostSample>& samples, std::uint64_t seed) {
  CostPredictor predictor;
  predictor.seed = seed;
  SampleRefs all;
  for (const CostSample& sample : samples) all.push_back(&sample);
  const std::vector<std::size_t> groups = drawn_groups(all, seed);
  check(groups.size() >= fewest_groups, "too few groups to hold some out");
  const std::set<std::size_t> held(groups.begin(),
                                   groups.begin() + static_cast<std::ptrdiff_t>(groups.size() / fewest_groups));
  SampleRefs trained;
  SampleRefs held_out;
  SampleRefs chosen;
  for (const CostSample& sample : samples) {
    (held.contains(sample.group) ? held_out : trained).push_back(&sample);
    if (held.contains(sample.group) && sample.is_chosen) chosen.push_back(&sample);
  }
  predictor.ratio = grown(trained, log_ratio);
  learn_doubt(predictor, trained);
  const Said always = [&](const CostSample& sample) { return predicted_cycles(predictor, sample.features); };
  const Said predicted = [&](const CostSample& sample) {
    return is_doubtful(predictor, sample.features) ? std::nullopt : always(sample);
  };
  const Said closed = [](const CostSample& sample) {
    return sample.features.launch_cycles + sample.features.closed_cycles;
  };
  predictor.trained_with = errors_of(trained, predicted);
  predictor.held_out = errors_of(held_out, predicted);
  predictor.held_out_chosen = errors_of(chosen, predicted);
  predictor.never_asked = errors_of(held_out, always);
  predictor.closed_form = errors_of(held_out, closed);
  return predictor;
}

}  // namespace stowage
