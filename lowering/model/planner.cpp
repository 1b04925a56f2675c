// SPDX-License-Identifier: Apache-2.0

#include "lowering/model/planner.h"

namespace stowage {

bool is_of_planner(const TraceRecord& record) {
  const std::string algorithm = heading_of(record).algorithm;
  return algorithm.starts_with("alg") || algorithm == "parallel" || algorithm == "search";
}

}  // namespace stowage
