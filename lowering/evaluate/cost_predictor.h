// SPDX-License-Identifier: Apache-2.0
// A learned evaluator: what the simulation would say of a plan, predicted from its features
// (lowering/evaluate/plan_features.h). What is learned is the ratio of simulated cycles to
// PlanFeatures::base_cycles, the closed form's for the core that asks for most; both without the launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowering/evaluate/boosted_trees.h"
#include "lowering/evaluate/plan_features.h"

namespace stowage {

/// A plan with what the simulation says of it.
struct CostSample {
  std::size_t group = 0;   ///< equal groups have one number; their samples are trained with, or held out, together
  bool is_chosen = false;  ///< the plan that the planner chooses for the group; others are variants of it
  PlanFeatures features;
  std::int64_t simulated_cycles = 0;  ///< with the launch
};

/// How far predictions are from the simulation: shares of the simulated cycles.
struct PredictionErrors {
  std::int64_t groups = 0;
  std::int64_t samples = 0;
  double median = 0;
  double of_95_percent = 0;  ///< of 95 % of the samples no more
  double largest = 0;
  friend bool operator==(const PredictionErrors&, const PredictionErrors&) = default;
};

struct CostPredictor {
  std::string target;       ///< name
  std::string target_hash;  ///< of its TOML; a predictor holds for no other target
  std::uint64_t seed = 0;   ///< with which it was trained
  BoostedTrees ratio;       ///< logarithm of simulated to base cycles
  PredictionErrors trained_with;
  PredictionErrors held_out;         ///< samples of groups that it was not trained with
  PredictionErrors held_out_chosen;  ///< of these, the plans that planners choose
  PredictionErrors closed_form;      ///< of the closed form, on the same
  friend bool operator==(const CostPredictor&, const CostPredictor&) = default;
};

/// Cycles with the launch.
std::int64_t predicted_cycles(const CostPredictor& predictor, const PlanFeatures& features);

/// Of a fifth of the groups, drawn by the seed, no sample is trained with: the errors on these are those that a
/// predictor is told by. At least five groups.
CostPredictor train_predictor(const std::vector<CostSample>& samples, std::uint64_t seed);

}  // namespace stowage
