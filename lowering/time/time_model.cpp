// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/time_model.h"

#include <cstdlib>
#include <utility>
#include <variant>

#include "lowering/time/core_costs.h"
#include "lowering/time/estimate_below.h"
#include "lowering/time/overlap.h"

namespace stowage {
namespace {

/// Whether costs are told as one term: all but computations.
bool joins(const CostFormula& term, const CostFormula& cost) {
  const auto* const before = std::get_if<RegisterBroadcastCost>(&term);
  const auto* const more = std::get_if<RegisterBroadcastCost>(&cost);
  if (before != nullptr && more != nullptr)
    return before->team == more->team && before->register_cycles == more->register_cycles;
  return kind_of(term) == kind_of(cost) && kind_of(cost) != CostKind::compute;
}

void join(CostFormula& term, const CostFormula& cost) {
  if (auto* transfers = std::get_if<TransferCost>(&term)) {
    const auto& more = std::get<TransferCost>(cost);
    transfers->moved.insert(transfers->moved.end(), more.moved.begin(), more.moved.end());
    transfers->one_core_seconds += more.one_core_seconds;
    transfers->busiest_seconds += more.busiest_seconds;
    transfers->transfers_of_busiest += more.transfers_of_busiest;
    transfers->calls_of_busiest += more.calls_of_busiest;
    transfers->more_calls_cycles += more.more_calls_cycles;
    transfers->filled_cycles += more.filled_cycles;
    transfers->hidden_cycles += more.hidden_cycles;
  }
  if (auto* barriers = std::get_if<BarrierCost>(&term)) {
    barriers->barriers_of_busiest += std::get<BarrierCost>(cost).barriers_of_busiest;
  }
  if (auto* broadcasts = std::get_if<RegisterBroadcastCost>(&term)) {
    broadcasts->broadcasts += std::get<RegisterBroadcastCost>(cost).broadcasts;
    broadcasts->registers += std::get<RegisterBroadcastCost>(cost).registers;
  }
  if (auto* fills = std::get_if<FillCost>(&term)) {
    fills->elements_of_busiest += std::get<FillCost>(cost).elements_of_busiest;
    fills->stores_of_busiest += std::get<FillCost>(cost).stores_of_busiest;
  }
}

TimeEstimate sum_of(CostTable table, const Target& target) {
  TimeEstimate estimate;
  for (Cost& cost : table) {
    if (!estimate.terms.empty() && joins(estimate.terms.back().cost, cost.formula)) {
      join(estimate.terms.back().cost, cost.formula);
    } else {
      estimate.terms.push_back({std::move(cost.formula), 0});
    }
  }
  for (TimeTerm& term : estimate.terms) {
    term.cycles = cycles_of(term.cost);
    estimate.cycles += term.cycles;
  }
  estimate.seconds = static_cast<double>(estimate.cycles) / target.clock_hz;
  return estimate;
}

}  // namespace

TimeEstimate estimate_time(const LoopNest& nest, const NestCounts& counts, const Target& target) {
  return sum_of(overlapped_costs(nest, counts, target), target);
}

std::optional<TimeEstimate> estimate_below(const LoopNest& nest, const NestCounts& counts, const Target& target,
                                           std::int64_t enough) {
  bool may_be_below = true;
  CostTable table = overlapped_costs(nest, counts, target, [&](const CostTable& all, std::int64_t most_hidden) {
    may_be_below = sum_of(all, target).cycles - most_hidden < enough;
    return may_be_below;
  });
  if (!may_be_below) return std::nullopt;
  TimeEstimate estimate = sum_of(std::move(table), target);
  return estimate.cycles < enough ? std::optional(std::move(estimate)) : std::nullopt;
}

std::int64_t least_cycles(const LoopNest& nest, const ComputeCounts& computations, const Target& target) {
  std::int64_t cycles = cycles_of(launch_cost(nest.launch, target));
  for (const Cost& cost : core_costs(nest, computations, {}, target).rows) cycles += cycles_of(cost.formula);
  return cycles;
}

bool same_term(const CostFormula& a, const CostFormula& b) {
  if (kind_of(a) != kind_of(b)) return false;
  const auto* computation = std::get_if<ComputeCost>(&a);
  if (computation == nullptr) return true;
  const auto& other = std::get<ComputeCost>(b);
  const auto finish = Compute::Part::finish;
  return computation->stage == other.stage && (computation->part == finish) == (other.part == finish);
}

std::int64_t cycles_of_term(const TimeEstimate& time, const CostFormula& term) {
  std::int64_t cycles = 0;
  for (const TimeTerm& other : time.terms) cycles += same_term(other.cost, term) ? other.cycles : 0;
  return cycles;
}

std::vector<const TimeTerm*> terms_gone(const TimeEstimate& before, const TimeEstimate& after) {
  std::vector<const TimeTerm*> gone;
  for (const TimeTerm& term : before.terms) {
    const auto is_same = [&](const TimeTerm& other) { return same_term(other.cost, term.cost); };
    if (std::none_of(after.terms.begin(), after.terms.end(), is_same)) gone.push_back(&term);
  }
  return gone;
}

std::map<CostKind, std::int64_t> cycles_by_kind(const TimeEstimate& time) {
  std::map<CostKind, std::int64_t> cycles;
  for (const TimeTerm& term : time.terms) cycles[kind_of(term.cost)] += term.cycles;
  return cycles;
}

TermChange largest_change(const TimeEstimate& before, const TimeEstimate& after) {
  TermChange largest;
  for (const TimeTerm& term : after.terms) {
    const std::int64_t change = term.cycles - cycles_of_term(before, term.cost);
    if (std::abs(change) > std::abs(largest.cycles)) largest = {&term, change};
  }
  for (const TimeTerm* term : terms_gone(before, after)) {
    if (term->cycles > std::abs(largest.cycles)) largest = {term, -term->cycles};
  }
  return largest;
}

}  // namespace stowage
