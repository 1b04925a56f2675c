// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/overlap_splits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowering/model/buffer_slots.h"
#include "lowering/search/climb.h"
#include "lowering/search/told_search.h"

namespace stowage {
namespace {

/// Splits that climbs with slots begin from, of those of at most so many cores.
constexpr std::size_t overlapped_splits = 2;
/// Splits that are planned to choose these, in the order of their bounds.
constexpr std::size_t bounded_splits = 4;
/// Third and fourth slots are tried where a climb ended at so many times the price of the best end at most.
constexpr double worth_deepening = 1.02;
/// At so many times the price of the best plan so far hardly any end leads below it.
constexpr double deepening_gains = 1.2;
/// But not where it takes less than so many times what it would if all that can be hidden were.
constexpr double worth_hiding = 1.01;

/// A split without slots, and what a climb with them begins from.
struct Beginning {
  Tried split;
  Tried at;
};

/// Those of at most so many cores whose bounds with slots are least.
std::vector<const CoreSplit*> least_bounded(const CoreSplits& splits, std::int64_t cores) {
  std::vector<const CoreSplit*> found;
  for (const CoreSplit& split : splits.all) {
    if (split.parts() <= cores) found.push_back(&split);
  }
  const auto least = [](const CoreSplit* split) { return price_of(split->grid.least_overlapped, split->shares_lines); };
  std::stable_sort(found.begin(), found.end(),
                   [&](const CoreSplit* a, const CoreSplit* b) { return least(a) < least(b); });
  found.resize(std::min(found.size(), bounded_splits));
  return found;
}

/// The best split without slots, and those of the least bounds with slots; planned without slots.
std::vector<Tried> splits_to_overlap(const SearchTask& task, TriedPlans& plans, const CoreSplits& splits,
                                     std::int64_t cores) {
  std::vector<Tried> found;
  const auto add = [&](const Tried& split) {
    const auto same = [&](const Tried& other) { return other.complete.parallel == split.complete.parallel; };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(split);
  };
  const Tried* const best = splits.best_of(cores);
  if (best != nullptr && !plans.is_hopeless(price_of(best->least_overlapped, best->shares_lines))) add(*best);
  for (const CoreSplit* const each : least_bounded(splits, cores)) {
    const CoreSplit& split = *each;
    if (plans.is_over()) break;
    if (plans.is_hopeless(price_of(split.grid.least_overlapped, split.shares_lines))) continue;
    const auto planned = std::find_if(splits.planned.begin(), splits.planned.end(), [&](const Tried& tried) {
      return *tried.complete.parallel == split.grid.parallel;
    });
    if (planned != splits.planned.end()) {
      add(*planned);
      continue;
    }
    auto tried = plans.plan(on_split(task, split.grid.parallel));
    if (!tried) continue;
    tried->least_overlapped = split.grid.least_overlapped;
    add(*tried);
  }
  return found;
}

/// A split with two slots for everything that may have them: as algorithm 1 sizes such buffers, or, where that takes
/// less, with all that a core has of one iterator in them and the others as algorithm 1 sizes them then. Single steps
/// seldom lead there, as all others have to become shorter, and rows that are whole are long pieces of main memory.
/// Nothing where it is out of reach, or takes no less than `enough`.
std::optional<Tried> overlapped(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours,
                                const Tried& split, std::int64_t enough) {
  Schedule fixed = on_split(task, *split.complete.parallel);
  for (const std::string& tensor : neighbours.tensors_with_slots()) fixed.slots[tensor] = double_buffer_slots;
  auto begin = plans.plan_below(fixed, enough);
  for (Schedule& whole : neighbours.whole_iterators(fixed)) {
    auto tried = plans.plan_below(whole, begin ? begin->price() : enough);
    if (tried && (!begin || tried->price() < begin->price())) begin = std::move(tried);
  }
  if (!begin || is_out_of_reach(task, plans, *begin)) return std::nullopt;
  begin->least_cycles = begin->least_overlapped = split.least_overlapped;
  return begin;
}

/// The price of those that are no longer among the ones that climbs begin from.
std::int64_t enough_for(const std::vector<Beginning>& beginnings) {
  std::vector<std::int64_t> prices;
  for (const Beginning& beginning : beginnings) prices.push_back(beginning.at.price());
  if (prices.size() < overlapped_splits) return std::numeric_limits<std::int64_t>::max();
  std::sort(prices.begin(), prices.end());
  return prices[overlapped_splits - 1];
}

}  // namespace

EndsOfHalvings overlap_from_splits(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours,
                                   const CoreSplits& splits) {
  EndsOfHalvings ends;
  if (neighbours.tensors_with_slots().empty()) return ends;
  std::vector<Tried> climbed;  // where climbs ended; they leave the split as it is
  for (const CoreHalving& halving : splits.halvings) {
    if (halving.computes_again) continue;
    std::vector<Beginning> beginnings;
    for (const Tried& split : splits_to_overlap(task, plans, splits, halving.cores)) {
      if (plans.is_over()) return ends;
      if (halving.cores < task.target.cores.count && !may_overtake(plans, split)) continue;
      if (auto at = overlapped(task, plans, neighbours, split, enough_for(beginnings)))
        beginnings.push_back({split, *std::move(at)});
    }
    std::stable_sort(beginnings.begin(), beginnings.end(),
                     [](const Beginning& a, const Beginning& b) { return a.at.price() < b.at.price(); });
    std::vector<Tried>& of_halving = ends.emplace_back();
    for (std::size_t b = 0; b < std::min(beginnings.size(), overlapped_splits); ++b) {
      if (plans.is_over()) return ends;
      const auto& [split, at] = beginnings[b];
      const auto end = std::find_if(climbed.begin(), climbed.end(), [&](const Tried& other) {
        return other.complete.parallel == at.complete.parallel;
      });
      if (end != climbed.end()) {
        of_halving.push_back(*end);
        continue;
      }
      tell_slots(task, split, at);
      climbed.push_back(climb(task, plans, neighbours, at, ClimbSlots::changed));
      of_halving.push_back(climbed.back());
    }
  }
  return ends;
}

void deepen(const SearchTask& task, TriedPlans& plans, const Neighbours& neighbours, const EndsOfHalvings& ends) {
  std::vector<Schedule> deepened;
  for (const std::vector<Tried>& of_halving : ends) {
    const auto best = std::min_element(of_halving.begin(), of_halving.end(),
                                       [](const Tried& a, const Tried& b) { return a.price() < b.price(); });
    for (const Tried& end : of_halving) {
      if (plans.is_over()) return;
      if (static_cast<double>(end.price()) > worth_deepening * static_cast<double>(best->price())) continue;
      if (static_cast<double>(end.price()) > deepening_gains * static_cast<double>(plans.best()->price())) continue;
      if (static_cast<double>(end.cycles()) < worth_hiding * static_cast<double>(if_overlapped(end))) continue;
      if (std::find(deepened.begin(), deepened.end(), end.fixed) != deepened.end()) continue;
      deepened.push_back(end.fixed);
      climb(task, plans, neighbours, end, ClimbSlots::deepened);
    }
  }
}

}  // namespace stowage
