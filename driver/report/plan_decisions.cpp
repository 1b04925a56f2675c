// SPDX-License-Identifier: Apache-2.0
#include "driver/report/plan_decisions.h"

#include <algorithm>

#include "lowering/model/group_trace.h"

namespace stowage {

namespace {

void add_candidate(LoopRound& round, const LoopTried& tried, const GroupNames& names) {
  LoopCandidate candidate;
  candidate.loop = name_of(tried.loop, names);
  candidate.total = tried.transfers;
  candidate.operations = tried.operations;
  candidate.barred = tried.barred;
  std::vector<std::string> tensors;
  for (const BufferCount& count : tried.counts) {
    if (count.computed) continue;
    tensors.push_back(names.buffers[count.buffer]);
    candidate.transfers.push_back(count.count);
  }
  // All candidates count the same tensors; in a trace that was damaged one may not, and is none.
  if (!round.candidates.empty() && tensors != round.tensors) return;
  round.tensors = std::move(tensors);
  round.candidates.push_back(std::move(candidate));
}

/// Algorithm 2 for one order of loops after the other.
class OrderFollower {
 public:
  explicit OrderFollower(const Schedule& schedule) : schedule_(schedule) {}

  /// The rounds of the schedule's order, where this record is its end.
  std::optional<std::vector<LoopRound>> follow(const TraceRecord& record) {
    if (stowage::follow(open_, record)) {
      rounds_.push_back(std::move(open_));
      open_ = {};
    }
    const auto* const ordered = std::get_if<LoopsOrdered>(&record.what);
    if (ordered == nullptr) return std::nullopt;
    std::vector<std::string> order;
    for (const TracedLoop& loop : ordered->loops) order.push_back(name_of(loop, *record.names));
    std::vector<LoopRound> rounds = std::move(rounds_);
    rounds_.clear();
    if (schedule_.order != order) return std::nullopt;
    return rounds;
  }

 private:
  const Schedule& schedule_;
  LoopRound open_;
  std::vector<LoopRound> rounds_;
};

}  // namespace

bool follow(LoopRound& round, const TraceRecord& record) {
  if (record.names == nullptr) return false;
  if (const auto* tried = std::get_if<LoopTried>(&record.what)) add_candidate(round, *tried, *record.names);
  const auto* const placed = std::get_if<LoopPlaced>(&record.what);
  if (placed == nullptr) return false;
  const std::string chosen = name_of(placed->loop, *record.names);
  for (LoopCandidate& candidate : round.candidates) candidate.chosen = candidate.loop == chosen;
  return true;
}

PlanDecisions decisions_of(const GroupModel& model, const Schedule& schedule, const IteratorSizes& sizes,
                           std::span<const TraceRecord> records) {
  PlanDecisions found;
  const GroupNames names = names_of(model);
  std::optional<LdmState> refused;
  OrderFollower order(schedule);
  for (const TraceRecord& record : records) {
    if (record.names == nullptr || *record.names != names) continue;
    const auto* const classified = std::get_if<IteratorsClassified>(&record.what);
    if (classified != nullptr && classified->when == IteratorsClassified::When::first) refused.reset();
    const auto* const tried = std::get_if<SizeTried>(&record.what);
    if (tried != nullptr && tried->step == SizeTried::Step::grown && !tried->fits) refused = tried->state;
    const auto* const chosen = std::get_if<SizesChosen>(&record.what);
    if (chosen != nullptr && chosen->state.sizes == sizes) {
      found.sizes = chosen->state;
      found.refused = refused;
    }
    if (auto rounds = order.follow(record)) found.rounds = *std::move(rounds);
  }
  return found;
}

}  // namespace stowage
