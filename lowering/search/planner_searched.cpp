// SPDX-License-Identifier: Apache-2.0
// Planner "searched": every plan is made by the published algorithms from what the search has fixed, and the time
// model's cycles decide (tried_plans.h). Rounds:
//
//   splits   every split over the cores that may be better than the best plan so far (core_splits.h).
//   slots    climbs with two slots for what moves more than once, from some of these splits (overlap_splits.h). Their
//            plans leave few splits with hope for what blocks, so this comes before the last round.
//   climbs   from the best splits on: buffer sizes next to those of algorithm 1, neighbouring loops in exchange, what
//            is loaded together, what stays in the LDM (climb.h, neighbours.h).
//
// What is told of all this is made in told_search.h.
#include "lowering/search/planner_searched.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lowering/model/buffer_slots.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/sharing.h"
#include "lowering/search/climb.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/core_splits.h"
#include "lowering/search/neighbours.h"
#include "lowering/search/overlap_splits.h"
#include "lowering/search/told_search.h"
#include "lowering/search/tried_plans.h"
#include "lowering/swtvm/idle_slots.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {
namespace {

class PlanSearch {
 public:
  /// `person` says how kernels begin. Splits none of whose plans can have a lower price than `to_beat` are left out.
  PlanSearch(const std::string& subject, const StageList& stages, const Schedule& person, const Target& target,
             TraceSink trace, std::int64_t to_beat = std::numeric_limits<std::int64_t>::max(),
             std::stop_token over = {})
      : person_(person),
        model_(build_group_model(stages, target)),
        trace_(group_trace(trace, subject, model_)),
        bounds_(model_, target, person_.launch.value()),
        neighbours_(model_, person_, target),
        task_{subject, model_, person_, target, bounds_, trace_, to_beat, std::move(over)},
        plans_(task_) {}

  /// What the search fixes beside the person; nothing where no plan was found.
  std::optional<Schedule> run() {
    search();
    if (!plans_.best() && plans_.met_unaligned()) {
      // Such an operator is planned all the same, with a warning (plan_group.cpp), so the best of these plans is
      // wanted.
      plans_.allow_narrow_unaligned();
      search();
    }
    if (!plans_.best()) return std::nullopt;
    plan_published_aligned();
    const bool costs_more = published_ && plans_.best()->cycles() > published_->cycles();
    const Tried& chosen = costs_more ? *plans_.cheapest() : *plans_.best();
    tell_choice(task_, plans_, published_, chosen);
    return chosen.fixed;
  }

 private:
  void search() {
    published_ = plans_.plan(person_);
    published_is_unaligned_ = !published_ && plans_.met_unaligned();
    const CoreSplits splits = plan_splits(task_, plans_, published_);
    const EndsOfHalvings overlapped = overlap_from_splits(task_, plans_, neighbours_, splits);
    climb_from_splits(task_, plans_, neighbours_, splits);
    deepen(task_, plans_, neighbours_, overlapped);
  }

  /// Where the published split makes a transfer unaligned, planner swtvm takes the first of the others that does not
  /// (plan_group.cpp): that is the published plan then.
  void plan_published_aligned() {
    if (published_ || !published_is_unaligned_ || plans_.allows_narrow_unaligned() || person_.parallel) return;
    std::vector<CoreGrid> grids = core_grids(model_, without_sharing(task_.target));
    grids.resize(std::min(grids.size(), max_tried_splits));
    for (CoreGrid& grid : grids) {
      Schedule fixed = person_;
      fixed.parallel = std::move(grid.parallel);
      published_ = plans_.plan(fixed);
      if (published_) return;
    }
  }

  const Schedule person_;
  const GroupModel model_;
  const GroupTrace trace_;
  const PlanBounds bounds_;
  const Neighbours neighbours_;
  const SearchTask task_;
  TriedPlans plans_;
  std::optional<Tried> published_;  ///< what planner swtvm makes of it
  bool published_is_unaligned_ = false;
};

}  // namespace

LaunchedBy SearchedPlanner::launch(const Target& target) const {
  const Cores& cores = target.cores;
  const bool is_known = cores.barrier_cycles > 0;
  return is_known && cores.barrier_cycles < cores.launch_seconds * target.clock_hz ? LaunchedBy::barrier
                                                                                   : LaunchedBy::spawn;
}

Scheduled SearchedPlanner::complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                    const Target& target, TraceSink trace) const {
  const auto chosen = PlanSearch(subject, stages, with_launch(fixed, *this, target), target, trace).run();
  if (chosen) return complete_chosen(subject, stages, *chosen, target, trace);
  // What no split can hold, the published one cannot: its refusal says what is missing.
  const GroupModel model = build_group_model(stages, target);
  return refusing_idle_slots(model, run_algorithms(subject, model, fixed, target, trace));
}

Chosen SearchedPlanner::choose(const std::string& subject, const StageList& stages, const Schedule& fixed,
                               const Target& target, TraceSink trace, std::int64_t to_beat,
                               const std::stop_token& over) const {
  return {PlanSearch(subject, stages, with_launch(fixed, *this, target), target, trace, to_beat, over).run(),
          std::nullopt};
}

Scheduled SearchedPlanner::complete_chosen(const std::string& subject, const StageList& stages, const Schedule& chosen,
                                           const Target& target, TraceSink trace) const {
  return run_algorithms(subject, build_group_model(stages, target), chosen, target, trace, SplitBy::search);
}

}  // namespace stowage
