// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/core_splits.h"

#include <algorithm>
#include <utility>

#include "lowering/model/sharing.h"
#include "lowering/search/told_search.h"
#include "lowering/search/work_again.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

/// Splits from whose best plan it is judged whether a fused operator computes too much again, at most.
constexpr std::int64_t judged_splits = 8;

/// Those of the least price that they can have first.
std::vector<CoreSplit> splits_to_try(const SearchTask& task, const TriedPlans& plans) {
  std::vector<CoreSplit> splits;
  for (CoreGrid& grid : task.bounds.grids()) {
    const bool shares = plans.shares_lines(grid.parallel);
    splits.push_back({std::move(grid), shares});
  }
  std::stable_sort(splits.begin(), splits.end(),
                   [](const CoreSplit& a, const CoreSplit& b) { return a.least_price() < b.least_price(); });
  return splits;
}

bool computes_again(const Tried& tried, const CyclesApart& apart, std::int64_t cores) {
  std::int64_t cycles = tried.cycles();  // but for the launch, of which the stages apart would need more
  for (const TimeTerm& term : tried.time.terms) {
    if (kind_of(term.cost) == CostKind::launch) cycles -= term.cycles;
  }
  return computes_too_much_again(tried.work, cycles, apart, cores);
}

/// Whether so much is computed again that the search ends: for every number of cores from what would be planned on a
/// target of so many.
void judge_work(CoreSplits& splits, const CyclesApart& apart, const std::optional<Tried>& published) {
  for (CoreHalving& halving : splits.halvings) {
    if (halving.is_judged || halving.before_judged > 0) continue;
    halving.is_judged = true;
    const Tried* best = nullptr;
    for (const Tried& split : splits.planned) {
      if (split.parts() <= halving.cores && (best == nullptr || split.price() < best->price())) best = &split;
    }
    // The published plan may be better than all splits that are judged.
    halving.computes_again = best != nullptr && computes_again(*best, apart, halving.cores) &&
                             (!published || computes_again(*published, apart, halving.cores));
  }
}

/// Counts the split where it is one of at most so many cores; false where no such number of cores is still searched.
bool is_looked_at(const CoreSplit& split, std::vector<CoreHalving>& halvings) {
  bool is_wanted = false;
  for (CoreHalving& halving : halvings) {
    if (split.parts() > halving.cores || halving.computes_again) continue;
    --halving.before_judged;
    is_wanted = true;
  }
  return is_wanted;
}

/// The price that makes a split of so many parts no beginning of a climb: that of a split that is one for every number
/// of cores for which it could be.
std::optional<std::int64_t> least_beside(const std::vector<Tried>& planned, const Target& target, std::int64_t parts) {
  std::int64_t cores = target.cores.count;
  while (cores / 2 >= parts) cores /= 2;
  std::optional<std::int64_t> least;
  for (const Tried& split : planned) {
    if (split.parts() <= cores && (!least || split.price() < *least)) least = split.price();
  }
  return least;
}

void plan_grids(const SearchTask& task, TriedPlans& plans, const std::optional<Tried>& published, CoreSplits& splits) {
  const CyclesApart apart(task.model, task.target);
  plans.count_anew();
  splits.all = splits_to_try(task, plans);
  for (CoreHalving& halving : splits.halvings) {
    const auto count = std::count_if(splits.all.begin(), splits.all.end(),
                                     [&](const CoreSplit& split) { return split.parts() <= halving.cores; });
    halving.before_judged = std::min<std::int64_t>(count, judged_splits);
  }
  std::size_t work_again = 0;  // splits left out as the group computes too much again
  std::size_t next = 0;
  for (; next < splits.all.size(); ++next) {
    const CoreSplit& split = splits.all[next];
    const CoreGrid& grid = split.grid;
    if (plans.is_over() || plans.is_hopeless(split.least_price())) break;
    judge_work(splits, apart, published);
    if (!is_looked_at(split, splits.halvings)) {
      ++work_again;
      continue;
    }
    const Schedule fixed = on_split(task, grid.parallel);
    const bool is_published =
        published && *published->complete.parallel == grid.parallel && fixed.sharing == task.person.sharing;
    auto tried = is_published ? published : plans.plan(fixed, least_beside(splits.planned, task.target, split.parts()));
    if (!tried) continue;
    tried->least_cycles = grid.least_cycles;
    tried->least_overlapped = grid.least_overlapped;
    splits.planned.push_back(*std::move(tried));
  }
  judge_work(splits, apart, published);
  std::stable_sort(splits.planned.begin(), splits.planned.end(),
                   [](const Tried& a, const Tried& b) { return a.price() < b.price(); });
  // Where the time is over, the splits that are left have no other reason.
  if (!plans.is_over()) tell_splits(task, plans, splits, published, {next, work_again});
}

}  // namespace

const Tried* CoreSplits::best_of(std::int64_t cores) const {
  const auto found =
      std::find_if(planned.begin(), planned.end(), [&](const Tried& split) { return split.parts() <= cores; });
  return found == planned.end() ? nullptr : &*found;
}

CoreSplits plan_splits(const SearchTask& task, TriedPlans& plans, const std::optional<Tried>& published) {
  CoreSplits splits;
  for (std::int64_t cores = task.target.cores.count; cores >= 1; cores /= 2) splits.halvings.push_back({cores});
  if (!task.person.parallel) {
    plan_grids(task, plans, published, splits);
    return splits;
  }
  if (published) splits.planned.push_back(*published);
  if (auto shared = plans.plan(on_split(task, *task.person.parallel)))
    splits.planned.insert(splits.planned.begin(), *std::move(shared));
  return splits;
}

Schedule on_split(const SearchTask& task, const std::vector<ParallelSplit>& parallel) {
  const GroupModel& model = task.model;
  const Target& target = task.target;
  Schedule fixed = task.person;
  fixed.parallel = parallel;
  const IteratorSizes ranges = core_ranges(model, parallel);
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    const SharedBy widest = widest_sharing(model, b, parallel, target);
    if (widest == SharedBy::core) continue;
    const StageTensor& tensor = model.list->tensors[buffer.tensor];
    const std::int64_t wanted = element_count(buffer_extents(model, buffer, ranges)) * byte_size(tensor.type);
    const auto saved = static_cast<double>(wanted * (cores_of(widest, core_parts(parallel), target) - 1));
    const double meeting = widest == SharedBy::column ? meeting_cycles(column_broadcast_cost(wanted, target))
                                                      : 2 * target.cores.barrier_cycles;
    if (saved / peak_dma_bandwidth(target) > meeting / target.clock_hz) fixed.sharing.try_emplace(buffer.name, widest);
  }
  return fixed;
}

}  // namespace stowage
