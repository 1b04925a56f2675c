// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/trace.h"

namespace stowage {

/// Whether a planner has left a record: of the algorithms, the split over the cores, or a search for it.
inline bool is_of_planner(const TraceRecord& record) {
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
