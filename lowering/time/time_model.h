// SPDX-License-Identifier: Apache-2.0
// The time of a nest in closed form: the sum of its costs, of transfers what computation does not hide
// (lowering/time/overlap.h).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/counts.h"

namespace stowage {

/// Costs that are told as one: the launch, all gets, each computation, all fills, all puts.
struct TimeTerm {
  CostFormula cost;  ///< of all of them together
  std::int64_t cycles = 0;
};

struct TimeEstimate {
  std::vector<TimeTerm> terms;
  std::int64_t cycles = 0;  ///< the sum
  double seconds = 0;
};

/// The sum of a nest's costs, without what is hidden of transfers. They are in TimeEstimate::terms in the order of the
/// table.
TimeEstimate estimate_time(const LoopNest& nest, const NestCounts& counts, const Target& target);

/// No more cycles than estimate_time says, from a part of the counts: how its kernel begins and its computations, of
/// which nothing is hidden.
std::int64_t least_cycles(const LoopNest& nest, const ComputeCounts& computations, const Target& target);

/// Whether two terms tell the same of two plans: of computations, the same part of a stage of the same name.
bool same_term(const CostFormula& a, const CostFormula& b);

/// Cycles of the terms that are the same as this one.
std::int64_t cycles_of_term(const TimeEstimate& time, const CostFormula& term);

/// The terms of `before` that `after` has no more.
std::vector<const TimeTerm*> terms_gone(const TimeEstimate& before, const TimeEstimate& after);

std::map<CostKind, std::int64_t> cycles_by_kind(const TimeEstimate& time);

/// The term that differs most between two plans of a group, and by how many cycles: more than 0 where it grows. Null
/// where none differs.
struct TermChange {
  const TimeTerm* term = nullptr;  ///< of `after`, or of `before` where it is gone
  std::int64_t cycles = 0;
};
TermChange largest_change(const TimeEstimate& before, const TimeEstimate& after);

}  // namespace stowage
