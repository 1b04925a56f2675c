// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/planner_optimal.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "lowering/model/group_trace.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"

namespace stowage {
namespace {

const SearchedPlanner& searched() {
  static const SearchedPlanner planner;  // stateless
  return planner;
}

/// Over the grid of the plan that it begins with first, with a third of the limits, and over all with what is left of
/// them: where the bounds of many grids lie close together a search of all comes to no end of any.
SearchedSpace search_own_grid_first(const std::string& subject, const GroupModel& model, const Schedule& person,
                                    const std::optional<std::vector<ParallelSplit>>& own, const Target& target,
                                    SearchStart start, const SearchLimits& limits, const std::stop_token& over) {
  if (!own || person.parallel) return search_space(subject, model, person, target, start, limits, over);
  Schedule on_own = person;
  on_own.parallel = own;
  const SearchedSpace first =
      search_space(subject, model, on_own, target, start, {limits.planned / 3, limits.bounded / 3}, over);
  const Certificate& before = first.certificate;
  start.cycles = before.cycles;
  const SearchLimits left{limits.planned - before.planned, limits.bounded - before.bounded};
  SearchedSpace all = search_space(subject, model, person, target, start, left, over);
  if (!all.best) all.best = first.best;
  all.certificate.planned += before.planned;
  all.certificate.bounded += before.bounded;
  return all;
}

}  // namespace

LaunchedBy OptimalPlanner::launch(const Target& target) const { return searched().launch(target); }

const Planner& OptimalPlanner::for_costs() const { return searched(); }

Chosen OptimalPlanner::choose(const std::string& subject, const StageList& stages, const Schedule& fixed,
                              const Target& target, TraceSink sink, std::int64_t to_beat,
                              const std::stop_token& over) const {
  const Schedule person = with_launch(fixed, *this, target);
  // To its end also where time is over: nothing else says what a plan of the group is worth.
  Chosen chosen = searched().choose(subject, stages, person, target, sink, to_beat, {});
  const GroupModel model = build_group_model(stages, target);
  SearchStart start{std::numeric_limits<std::int64_t>::max(), to_beat, false};
  if (chosen.schedule) {
    auto begin = try_schedule(subject, model, *chosen.schedule, target, false);
    if (!begin) {  // no split has a plan whose transfers are all aligned
      start.unaligned = true;
      begin = try_schedule(subject, model, *chosen.schedule, target, true);
    }
    if (!begin) return chosen;  // the DMA can carry none out; plan_group.cpp says what is to be done then
    start.cycles = begin->cycles;
  } else if (to_beat == std::numeric_limits<std::int64_t>::max()) {
    return chosen;
  }
  const auto own = chosen.schedule ? chosen.schedule->parallel : std::nullopt;
  SearchedSpace found = search_own_grid_first(subject, model, person, own, target, start, limits_, over);
  const std::int64_t before = start.cycles;
  chosen.certificate = found.certificate;
  if (found.best) chosen.schedule = std::move(found.best);
  const Certificate& certificate = *chosen.certificate;
  if (chosen.schedule) {
    group_trace(sink, subject, model)
        .add(OptimumSearched{certificate.cycles, certificate.least_cycles, before, certificate.planned,
                             certificate.bounded, certificate.ended == Certificate::Ended::time,
                             certificate.ended == Certificate::Ended::schedules});
  }
  return chosen;
}

Scheduled OptimalPlanner::complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const {
  const Schedule person = with_launch(fixed, *this, target);
  const Chosen chosen = choose(subject, stages, person, target, trace, std::numeric_limits<std::int64_t>::max(), {});
  if (chosen.schedule) return complete_chosen(subject, stages, *chosen.schedule, target, trace);
  return SwtvmPlanner().complete(subject, stages, person, target, trace);
}

Scheduled OptimalPlanner::complete_chosen(const std::string& subject, const StageList& stages, const Schedule& chosen,
                                          const Target& target, TraceSink trace) const {
  return searched().complete_chosen(subject, stages, chosen, target, trace);
}

}  // namespace stowage
