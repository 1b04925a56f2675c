// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/planner_optimal.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "lowering/model/group_trace.h"
#include "lowering/search/planner_searched.h"

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

Chosen OptimalPlanner::improve(const std::string& subject, const StageList& stages, const Schedule& fixed,
                               const Target& target, TraceSink sink, const Schedule* begin, std::int64_t to_beat,
                               const std::stop_token& over) const {
  const Schedule person = with_launch(fixed, *this, target);
  const GroupModel model = build_group_model(stages, target);
  SearchStart start{std::numeric_limits<std::int64_t>::max(), to_beat, false};
  std::optional<std::vector<ParallelSplit>> own;
  if (begin != nullptr) {
    auto known = try_schedule(subject, model, *begin, target, false);
    if (!known) {  // no split has a plan whose transfers are all aligned
      start.unaligned = true;
      known = try_schedule(subject, model, *begin, target, true);
    }
    if (!known) return {};  // the DMA can carry none out; plan_group.cpp says what is done then
    start.cycles = known->cycles;
    start.to_beat = std::numeric_limits<std::int64_t>::max();
    own = begin->parallel;
  } else if (!over.stop_requested()) {
    // What planner searched has there is no better, or that would be the plan; but its grid is a good one.
    const Chosen other = searched().choose(subject, stages, person, target, sink, to_beat, over);
    if (other.schedule) own = other.schedule->parallel;
  }
  SearchedSpace found = search_own_grid_first(subject, model, person, own, target, start, limits_, over);
  const Certificate& certificate = found.certificate;
  if (found.best || begin != nullptr) {
    group_trace(sink, subject, model)
        .add(OptimumSearched{certificate.cycles, certificate.least_cycles, to_beat, certificate.planned,
                             certificate.bounded, certificate.ended == Certificate::Ended::time,
                             certificate.ended == Certificate::Ended::schedules});
  }
  return {std::move(found.best), certificate};
}

Scheduled OptimalPlanner::complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const {
  return searched().complete(subject, stages, fixed, target, trace);
}

Scheduled OptimalPlanner::complete_chosen(const std::string& subject, const StageList& stages, const Schedule& chosen,
                                          const Target& target, TraceSink trace) const {
  return searched().complete_chosen(subject, stages, chosen, target, trace);
}

}  // namespace stowage
