// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/tried_plans.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "lowering/model/buffer_slots.h"
#include "lowering/model/sharing.h"
#include "lowering/nest/lower.h"
#include "lowering/nest/plan.h"
#include "lowering/swtvm/idle_slots.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/read_schedule.h"
#include "lowering/swtvm/swtvm.h"
#include "lowering/time/counts.h"
#include "lowering/time/dma_alignment.h"
#include "lowering/time/estimate_below.h"

namespace stowage {
namespace {

/// A neighbour is planned where no more than so many times what is wanted is foreseen. With 1.05 a quarter to a third
/// fewer are, and LeNet, CifarNet and ResNet-18 keep their cycles; with 1.02 they take up to 0.5 % more, with 1 up to
/// 0.9 %.
constexpr double little_more = 1.05;
/// How many times its bound a neighbour is taken to take, at most: of a plan that is further above its own the tiles or
/// places may be what is wrong, and a neighbour has others. Without it DCGAN takes 4.5 % more cycles; with 1.5 the
/// MobileNets take 0.3 % more, as other plans are met on the way.
constexpr double most_above_bound = 1.6;

}  // namespace

std::optional<Tried> TriedPlans::plan(const Schedule& fixed, const Wanted& wanted) {
  const std::string& subject = task_.subject;
  const GroupModel& model = task_.model;
  const Target& target = task_.target;
  Scheduled scheduled = run_algorithms(subject, model, fixed, target, {});
  if (std::holds_alternative<Decision>(scheduled)) return std::nullopt;
  const auto read = read_schedule(model, std::get<Schedule>(scheduled));
  const auto* const readable = std::get_if<ReadSchedule>(&read);
  std::map<std::string, int> idle;
  if (readable != nullptr) idle = idle_slots(model, std::get<Schedule>(scheduled), *readable);
  if (!idle.empty()) {
    // With these sizes they move once, or twice. A person's wish stays, so that there is no such plan.
    Schedule fewer = fixed;
    for (const auto& [tensor, used] : idle) {
      if (task_.person.slots.contains(tensor)) return std::nullopt;
      fewer.slots[tensor] = used;
    }
    return plan(fewer, wanted);
  }
  if (readable != nullptr && is_given_up(std::get<Schedule>(scheduled), *readable, wanted)) return std::nullopt;
  if (const Tried* known = find_known(std::get<Schedule>(scheduled))) {
    Tried again = *known;
    again.fixed = fixed;
    return again;
  }
  Plan plan;
  plan.schedule = std::get<Schedule>(std::move(scheduled));
  Lowered lowered = lower(subject, model, plan.schedule, target);
  if (std::holds_alternative<Decision>(lowered)) return std::nullopt;
  plan.nest = std::get<LoopNest>(std::move(lowered));
  if (!moves_aligned(plan.nest)) return std::nullopt;
  ComputeCounts computations = count_computations(plan.nest);
  const bool shares = shares_lines(*plan.schedule.parallel);
  if (wanted.enough && price_of(least_cycles(plan.nest, computations, target), shares) >= *wanted.enough)
    return std::nullopt;
  plan.counts = predict_counts(plan.nest, std::move(computations));
  auto time = estimate_below(plan.nest, plan.counts, target, wanted.limit);  // the price is no less than the cycles
  if (!time) return std::nullopt;
  plan.time = *std::move(time);
  Tried tried{fixed, plan.schedule, plan.time, work_of(plan), shares};
  if (!best_ || tried.price() < best_->price()) best_ = tried;
  if (!cheapest_ || tried.cycles() < cheapest_->cycles()) cheapest_ = tried;
  known_[tried.complete.buffer].push_back(tried);
  return tried;
}

/// A plan that came to the same schedule before, from other things fixed: a climb comes back to where it was, or the
/// climb from another split to where that one was.
const Tried* TriedPlans::find_known(const Schedule& complete) const {
  const auto of_sizes = known_.find(complete.buffer);
  if (of_sizes == known_.end()) return nullptr;
  const auto found = std::find_if(of_sizes->second.begin(), of_sizes->second.end(),
                                  [&](const Tried& tried) { return tried.complete == complete; });
  return found == of_sizes->second.end() ? nullptr : &*found;
}

bool TriedPlans::moves_aligned(const LoopNest& nest) {
  const auto unaligned = unaligned_transfers(nest, task_.target);
  if (unaligned.empty()) return true;
  met_unaligned_ = true;
  if (narrow_may_be_unaligned_ && find_refused(unaligned) == nullptr) return true;
  ++left_.unaligned;
  return false;
}

bool TriedPlans::shares_lines(const std::vector<ParallelSplit>& parallel) const {
  const Target& target = task_.target;
  return !target.dma.lines && cores_share_lines(task_.model, parallel, target.main_memory.line_bytes);
}

std::int64_t TriedPlans::least_cycles_of(const Schedule& schedule, const ReadSchedule& read) {
  const GroupModel& model = task_.model;
  if (!over_ || over_->first != read.parallel) over_.emplace(read.parallel, task_.bounds.over(read.parallel));
  return over_->second.least_cycles(read, slots_by_buffer(model, schedule.slots),
                                    sharing_by_buffer(model, schedule.sharing));
}

double TriedPlans::above_bound(const Tried& tried) {
  const auto read = read_schedule(task_.model, tried.complete);
  const auto* const readable = std::get_if<ReadSchedule>(&read);
  const std::int64_t least = readable == nullptr ? 0 : least_cycles_of(tried.complete, *readable);
  return least == 0 ? 0 : static_cast<double>(tried.cycles()) / static_cast<double>(least);
}

bool TriedPlans::is_given_up(const Schedule& schedule, const ReadSchedule& read, const Wanted& wanted) {
  if (!wanted.enough) return false;
  const std::int64_t least = least_cycles_of(schedule, read);
  const std::int64_t least_price = price_of(least, shares_lines(*schedule.parallel));
  if (least_price < *wanted.enough) {
    const double foreseen = static_cast<double>(least_price) * std::min(wanted.above_bound, most_above_bound);
    return foreseen >= little_more * static_cast<double>(*wanted.enough);
  }
  left_.least = left_.given_up++ == 0 ? least : std::min(left_.least, least);
  return true;
}

}  // namespace stowage
