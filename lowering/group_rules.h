// SPDX-License-Identifier: Apache-2.0
// Legality with numbers: what the plan of a group of several operators must keep beyond fitting the scratchpad. The
// rules' names and sentences stand in the table of fusion/legality.cpp.
#pragma once

#include "core/target.h"
#include "fusion/strategy.h"
#include "lowering/plan.h"

namespace stowage {

/// A group may compute at most this many times what its operators need (rule "recomputation"). Beyond that a cheaper
/// way is sure to exist: computing the earlier operators by themselves.
constexpr double most_recomputation = 2.0;
/// A group may use at least this share of the cores that its heaviest operator would use alone ("lost-parallelism").
constexpr double least_parallelism = 0.5;

/// Operations of a plan, over all cores, and those that computing each point once would take.
struct GroupWork {
  std::int64_t computed = 0;
  std::int64_t needed = 0;
  [[nodiscard]] double factor() const {
    return needed == 0 ? 1.0 : static_cast<double>(computed) / static_cast<double>(needed);
  }
};
GroupWork work_of(const Plan& plan);

/// The first rule that the plan of a group of several operators breaks, with its numbers.
Decision judge_group(const Plan& plan, const Target& target);

}  // namespace stowage
