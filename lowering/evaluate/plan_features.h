// SPDX-License-Identifier: Apache-2.0
// A plan as numbers from which its simulated time can be predicted: the terms of the closed form, what it hides, and
// what the cores ask for in all, mostly as shares of the closed form's cycles (docs/simulation.md has the list).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "lowering/nest/plan.h"
#include "lowering/simulate/request_sequences.h"

namespace stowage {

struct PlanFeatureRow {
  std::string_view name;
  std::string_view meaning;
};

/// In the order of PlanFeatures::values.
std::span<const PlanFeatureRow> plan_feature_table();

struct PlanFeatures {
  std::int64_t launch_cycles = 0;
  std::int64_t closed_cycles = 0;  ///< of the closed form, without the launch
  /// The same, and what the core that asks for most computes and issues more than the closed form counts, which takes
  /// the core that computes longest and that with most bytes.
  std::int64_t base_cycles = 0;
  std::vector<double> values;
};

/// `requests`: of the plan's nest, with Sharing::equal.
PlanFeatures features_of(const Plan& plan, const Target& target, const RequestSequences& requests);

}  // namespace stowage
