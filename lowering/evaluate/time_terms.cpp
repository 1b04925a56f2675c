// SPDX-License-Identifier: Apache-2.0
#include "lowering/evaluate/time_terms.h"

#include "core/check.h"

namespace stowage {
namespace {

TimeTermKind term_of(CostKind kind) {
  switch (kind) {
    case CostKind::launch: return TimeTermKind::launch;
    case CostKind::compute:
    case CostKind::fill: return TimeTermKind::computation;
    case CostKind::get:
    case CostKind::barrier:
    case CostKind::broadcast: return TimeTermKind::loads;
    case CostKind::put: return TimeTermKind::stores;
  }
  fail_check("unknown kind of cost");
}

}  // namespace

std::string_view name_of(TimeTermKind kind) {
  switch (kind) {
    case TimeTermKind::launch: return "launch";
    case TimeTermKind::computation: return "computation";
    case TimeTermKind::loads: return "loads";
    case TimeTermKind::stores: return "stores";
  }
  fail_check("unknown term");
}

TermTimes term_times(const Plan& plan, const Simulation& simulation) {
  TermTimes times;
  const auto at = [&](TimeTermKind kind) -> TermCycles& { return times[static_cast<std::size_t>(kind)]; };
  for (const TimeTerm& term : plan.time.terms) at(term_of(kind_of(term.cost))).closed_form += term.cycles;
  const std::size_t last = simulation.last_core();
  const CoreTimes& core = simulation.cores[last];
  const std::int64_t puts = simulation.issuing_puts[last];
  at(TimeTermKind::launch).simulated = simulation.launch_cycles;
  at(TimeTermKind::computation).simulated = core.computing;
  at(TimeTermKind::loads).simulated = core.issuing - puts + core.waiting_for_gets + core.waiting_at_barriers;
  at(TimeTermKind::stores).simulated = puts + core.waiting_for_puts + core.idle;
  return times;
}

}  // namespace stowage
