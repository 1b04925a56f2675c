// SPDX-License-Identifier: Apache-2.0

#include "lowering/model/planner.h"

namespace stowage {

Schedule with_launch(Schedule schedule, const Planner& planner, const Target& target) {
  if (!schedule.launch) schedule.launch = planner.launch(target);
  return schedule;
}

}  // namespace stowage
