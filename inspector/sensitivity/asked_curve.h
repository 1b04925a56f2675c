// SPDX-License-Identifier: Apache-2.0
// A curve of the opened plan (driver/sensitivity), asked for with what stands in the pane's fields. For worker threads.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "core/progress.h"
#include "driver/sensitivity/curve.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

struct AskedCurve {
  std::shared_ptr<const Curve> curve;  ///< null where it cannot be asked so, and when stopped
  std::string told;                    ///< what is wrong, or has to be known of the curve; one line each
};

/// What `stowage sensitivity` gives.
AskedCurve ask_curve(const LoadedPlan& plan, const std::string& key, const RangeText& range,
                     const std::stop_token& stop, const ProgressSink& progress);

/// Values to begin with: from a quarter of the plan's own to twice as much, doubling.
RangeText usual_range(const LoadedPlan& plan, const std::string& key);

}  // namespace stowage::inspector
