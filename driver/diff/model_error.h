// SPDX-License-Identifier: Apache-2.0
// Whether a predicted difference between two plans is more than the time model may be off by (docs/simulation.md says
// how that is measured).
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "driver/diff/plan_diff.h"

namespace stowage {

/// Simulates both plans, for DiffSide::simulated_seconds; leaves out what cannot be simulated. For worker threads.
void add_simulated(PlanDiff& diff, const Compilation& before, const Compilation& after,
                   const std::stop_token& stop = {});

struct DifferenceError {
  double difference =
      0;  ///< of the closed form, as a share of the first plan's time; less than 0: the second is faster
  double simulated_difference = 0;
  double closed_form_error = 0;  ///< against simulation, of whichever plan it is larger
  double model_error = 0;        ///< the larger of that and measured_error (lowering/time/measured_error.h)
  [[nodiscard]] bool is_inside() const;
};

/// Nothing where the plans are the same, or of different networks, or were not simulated.
std::optional<DifferenceError> difference_error(const PlanDiff& diff);

/// "In simulation B is 0.4 % faster. The difference is inside the model's error of 3.0 % …"; "" of nothing.
std::string difference_error_text(const PlanDiff& diff, const std::string& a = "A", const std::string& b = "B");

}  // namespace stowage
