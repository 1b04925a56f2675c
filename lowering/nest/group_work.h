// SPDX-License-Identifier: Apache-2.0
// How much of a plan's work is done again. Nothing is refused for it: what is computed again and cores that have
// nothing to do are in the plan's cycles. It tells a person where these come from, and a search that other plans of the
// group are not worth their time (lowering/search/work_again.h).
#pragma once

#include "core/target.h"
#include "lowering/nest/plan.h"

namespace stowage {

/// Operations of a plan, over all cores, and those that computing each point once would take.
struct GroupWork {
  std::int64_t computed = 0;
  std::int64_t needed = 0;
  [[nodiscard]] double factor() const {
    return needed == 0 ? 1.0 : static_cast<double>(computed) / static_cast<double>(needed);
  }
};
GroupWork work_of(const Plan& plan);

/// "uses 4 of 64 cores and computes 3.35 times the operations that are needed".
std::string work_text(const Plan& plan, const Target& target);

}  // namespace stowage
