// SPDX-License-Identifier: Apache-2.0

#include "lowering/model/planner.h"

namespace stowage {

bool is_of_planner(const TraceRecord& record) {
  return record.algorithm.starts_with("alg") || record.algorithm == "parallel" || record.algorithm == "search";
}

}  // namespace stowage
