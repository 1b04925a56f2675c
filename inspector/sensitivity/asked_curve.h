// SPDX-License-Identifier: Apache-2.0
// A curve of the opened plan (driver/sensitivity), asked for with what stands in the pane's fields, and the plans that
// it is made of. For worker threads.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "core/progress.h"
#include "driver/sensitivity/curve.h"
#include "inspector/state/loaded_plan.h"
#include "inspector/tables/table.h"

namespace stowage::inspector {

struct AskedCurve {
  std::shared_ptr<const Curve> curve;  ///< null where it cannot be asked so, and when stopped
  std::string told;                    ///< what is wrong, or has to be known of the curve; one line each
};

/// What `stowage sensitivity` gives.
AskedCurve ask_curve(const LoadedPlan& plan, const std::string& key, const RangeText& range,
                     const std::stop_token& stop, const ProgressSink& progress);

struct PlanAtValue {
  PlanPtr plan;      ///< null after a stop, and where there is none
  std::string told;  ///< what is wrong
};

/// The plan that a point of a curve has its numbers of: the plan's network compiled with that value.
PlanAtValue plan_at(const LoadedPlan& plan, const SweptValue& value, const std::stop_token& stop,
                    const ProgressSink& progress);

/// Values to begin with: from a quarter of the plan's own to twice as much, doubling.
RangeText usual_range(const LoadedPlan& plan, const std::string& key);

/// A row for each point, in their order; not all columns are shown at first. Cycles stay cycles, because the clock may
/// be what is changed.
Table values_table(const Curve& curve);

}  // namespace stowage::inspector
