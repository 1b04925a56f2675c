// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/climb.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "lowering/search/told_search.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

/// A plan this near to the least that its split can take is not worth a climb.
constexpr double near_enough = 1.02;
/// A step of a climb that leaves so much of the price is taken before neighbours of other kinds are looked at.
constexpr double good_step = 0.98;
/// Neighbours planned in one climb since a good step, at most.
constexpr int max_neighbours = 72;
/// Fewer cores are climbed from only where they begin below so many times the best plan's cycles.
constexpr double worth_climbing = 1.3;
/// No climb begins above so many times the cycles of the best plan, or of what is to be beaten.
constexpr double out_of_reach = 3;
/// A plan that computes no more than so many times what is needed computes next to nothing again.
constexpr double little_again = 1.1;

/// By their kinds, in the order in which they are tried.
std::vector<std::vector<Schedule>> next_to(const Tried& here, const Neighbours& neighbours, ClimbSlots slots) {
  const Reached reached{here.fixed, here.complete};
  std::vector<std::vector<Schedule>> all = {neighbours.single_sizes(reached), neighbours.loop_orders(reached)};
  all.push_back(neighbours.sharings(reached));
  all.push_back(neighbours.residents(reached));
  if (slots != ClimbSlots::kept) {
    all.push_back(neighbours.slot_numbers(reached));
    all.push_back(neighbours.slots_for_all(reached));
    all.push_back(neighbours.stored_while_computed(reached));
  }
  all.push_back(neighbours.paired_sizes(reached));
  return all;
}

bool is_good_step(const Tried& from, const Tried& to) {
  return static_cast<double>(to.price()) < good_step * static_cast<double>(from.price());
}

}  // namespace

Tried climb(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours, Tried at, ClimbSlots slots) {
  const auto far = [&] {
    return static_cast<double>(at.cycles()) > near_enough * static_cast<double>(at.least_cycles);
  };
  std::vector<Schedule> seen;  // neighbours planned
  int planned = 0;
  int most = max_neighbours;
  while (far()) {
    std::optional<Tried> better;
    const double above_bound = plans.above_bound(at);
    const auto look_at = [&](const std::vector<Schedule>& of_kind) {
      for (const Schedule& fixed : of_kind) {
        if (planned == most || plans.is_over()) break;
        if (std::find(seen.begin(), seen.end(), fixed) != seen.end()) continue;
        seen.push_back(fixed);
        ++planned;
        const std::int64_t to_beat = better ? better->price() : at.price();
        auto tried = plans.plan_neighbour(fixed, to_beat, above_bound);
        if (tried && tried->price() < to_beat) better = std::move(tried);
      }
    };
    const bool ended_here = slots == ClimbSlots::deepened && planned == 0;
    if (!ended_here) {
      for (const auto& of_kind : next_to(at, neighbours, slots)) {
        look_at(of_kind);
        if (better && is_good_step(at, *better)) break;
      }
    }
    if (!better && slots == ClimbSlots::deepened) look_at(neighbours.deeper_slots({at.fixed, at.complete}));
    if (!better) break;
    better->least_cycles = at.least_cycles;
    better->least_overlapped = at.least_overlapped;
    tell_step(task, at, *better);
    if (is_good_step(at, *better)) most = planned + max_neighbours;
    at = *std::move(better);
  }
  if (planned > 0) tell_climbed(task, at, planned);
  return at;
}

void climb_from_splits(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours,
                       const CoreSplits& splits) {
  const Tried* climbed = nullptr;
  for (const CoreHalving& halving : splits.halvings) {
    if (halving.computes_again) continue;
    const Tried* const split = splits.best_of(halving.cores);
    if (split == nullptr || plans.is_over()) return;
    const bool is_far = halving.cores < task.target.cores.count && !may_overtake(plans, *split);
    if (split != climbed && !is_far && !is_out_of_reach(task, plans, *split) &&
        !plans.is_hopeless(price_of(split->least_cycles, split->shares_lines)))
      climb(task, plans, neighbours, *split, ClimbSlots::kept);
    climbed = split;
  }
}

std::int64_t if_overlapped(const Tried& tried) {
  std::int64_t launch = 0, moved = 0, computed = 0;
  for (const TimeTerm& term : tried.time.terms) {
    const CostKind kind = kind_of(term.cost);
    const auto* transfer = std::get_if<TransferCost>(&term.cost);
    const auto issued = transfer != nullptr ? static_cast<std::int64_t>(issuing_cycles(*transfer)) : 0;
    if (transfer != nullptr) moved += term.cycles - issued;
    const bool stands = kind == CostKind::launch || kind == CostKind::barrier || kind == CostKind::broadcast;
    (stands ? launch : computed) += transfer != nullptr ? issued : term.cycles;
  }
  return launch + std::max(moved, computed);
}

bool may_overtake(const TriedPlans& plans, const Tried& begin) {
  const std::optional<Tried>& best = plans.best();
  return !best || best->work.factor() > little_again ||
         static_cast<double>(if_overlapped(begin)) < worth_climbing * static_cast<double>(best->cycles());
}

bool is_out_of_reach(const SearchTask& task, const TriedPlans& plans, const Tried& begin) {
  const std::int64_t least = plans.best() ? std::min(plans.best()->cycles(), task.to_beat) : task.to_beat;
  return static_cast<double>(if_overlapped(begin)) > out_of_reach * static_cast<double>(least);
}

}  // namespace stowage
