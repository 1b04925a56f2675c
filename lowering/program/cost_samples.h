// SPDX-License-Identifier: Apache-2.0
// Plans of groups with what the simulation says of them, to train a predictor with
// (lowering/evaluate/cost_predictor.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/target.h"
#include "lowering/evaluate/cost_predictor.h"
#include "lowering/model/planner.h"
#include "lowering/program/canonical_stages.h"

namespace stowage {

/// The plan that a planner chooses for a group, the published one, and up to `variants` plans with other buffer sizes,
/// slots or sharing than the first, drawn by the seed; fewer where these cannot be planned. None of a group that cannot
/// be planned, or when stopped. CostSample::group stays 0.
std::vector<CostSample> cost_samples(const CanonicalStages& group, const Planner& planner, const Target& target,
                                     std::size_t variants, std::uint64_t seed, const std::stop_token& stop = {});

}  // namespace stowage
