// SPDX-License-Identifier: Apache-2.0

#include "lowering/model/planner.h"

namespace stowage {

Schedule with_launch(Schedule schedule, const Planner& planner, const Target& target) {
  if (!schedule.launch) schedule.launch = planner.launch(target);
  return schedule;
}

bool is_of_planner(const TraceRecord& record) {
  switch (algorithm_of(record)) {
    case TraceAlgorithm::alg1:
    case TraceAlgorithm::alg2:
    case TraceAlgorithm::alg3:
    case TraceAlgorithm::alg4:
    case TraceAlgorithm::alg5:
    case TraceAlgorithm::parallel:
    case TraceAlgorithm::search: return true;
    default: return false;
  }
}

}  // namespace stowage
