// SPDX-License-Identifier: Apache-2.0
// Trains a learned evaluator for a target on simulated plans of the sample networks' groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/progress.h"
#include "core/target.h"
#include "lowering/evaluate/cost_predictor.h"
#include "lowering/model/planner.h"

namespace stowage {

inline constexpr std::size_t usual_training_samples = 2000;

struct TrainingOptions {
  std::size_t samples = usual_training_samples;  ///< about how many plans; fewer where there are fewer groups
  std::uint64_t seed = 1;
  unsigned threads = 0;               ///< 0: one a core; nothing depends on it
  std::vector<std::string> networks;  ///< of the samples; empty: all
};

/// Plans of groups that the built-in templates find in the sample networks, equal groups once, in an order that the
/// seed draws: of each the plan that the planner chooses and variants of it. Fails when stopped, or with
/// "too-few-samples".
Result<std::vector<CostSample>> training_samples(const Target& target, const Planner& planner,
                                                 const TrainingOptions& options, Diagnostics& diagnostics,
                                                 const std::stop_token& stop, const ProgressSink& progress);

}  // namespace stowage
