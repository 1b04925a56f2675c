// SPDX-License-Identifier: Apache-2.0
#include "driver/backend/fixed_schedules.h"

#include "core/check.h"

namespace stowage {

const Numbers& numbers_of(const FixedSchedule& fixed) {
  const auto* const schedule = dynamic_cast<const NumberSchedule*>(&fixed);
  check(schedule != nullptr, "a schedule of another family");
  return schedule->numbers();
}

}  // namespace stowage
