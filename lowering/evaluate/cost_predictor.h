// SPDX-License-Identifier: Apache-2.0
// A learned evaluator: what the simulation would say of a plan, predicted from its features
// (lowering/evaluate/plan_features.h). What is learned is the ratio of simulated cycles to
// PlanFeatures::base_cycles, the closed form's for the core that asks for most; both without the launch. Beside it the
// predictor learns how far it is to be trusted: a plan that it doubts is simulated (lowering/evaluate/evaluator.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

/// The most that a prediction may be off.
inline constexpr double error_limit = 0.05;

/// How far predictions are from the simulation: shares of the simulated cycles.
struct PredictionErrors {
  std::int64_t groups = 0;
  std::int64_t samples = 0;
  std::int64_t predicted = 0;  ///< of them those that were not left to the simulation; the errors are of these
  double median = 0;
  double of_95_percent = 0;  ///< of 95 % of those predicted no more
  double largest = 0;
  friend bool operator==(const PredictionErrors&, const PredictionErrors&) = default;
};

struct CostPredictor {
  std::string target;                                        ///< name
  std::string target_hash;                                   ///< of its TOML; a predictor holds for no other target
  std::uint64_t seed = 0;                                    ///< with which it was trained
  BoostedTrees ratio;                                        ///< logarithm of simulated to base cycles
  BoostedTrees doubt;                                        ///< logarithm of the error to be expected
  double doubted_from = std::numeric_limits<double>::max();  ///< plans that are doubted this much or more are simulated
  PredictionErrors trained_with;
  PredictionErrors held_out;         ///< samples of groups that it was not trained with
  PredictionErrors held_out_chosen;  ///< of these, the plans that planners choose
  PredictionErrors never_asked;      ///< on the samples held out, if everything were predicted
  PredictionErrors closed_form;      ///< of the closed form, on the same
  friend bool operator==(const CostPredictor&, const CostPredictor&) = default;
};

/// Whether the plan had better be simulated.
bool is_doubtful(const CostPredictor& predictor, const PlanFeatures& features);

/// Cycles with the launch.
std::int64_t predicted_cycles(const CostPredictor& predictor, const PlanFeatures& features);

/// The samples of a fifth of the groups, drawn by the seed, are held out: the errors that the predictor states are
/// those on them. How far it is to be trusted is learned from the others alone: each part of them is predicted by trees
/// that were grown on the other parts. At least five groups.
CostPredictor train_predictor(const std::vector<CostSample>& samples, std::uint64_t seed);

}  // namespace stowage
