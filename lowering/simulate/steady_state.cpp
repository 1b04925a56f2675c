// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/steady_state.h"

#include <algorithm>
#include <limits>

#include "lowering/time/cycle_limit.h"

namespace stowage {

void SteadyState::look(CoreRuns& runs) {
  std::size_t leader = 0;
  while (leader < runs.runs().size() && runs.runs()[leader].state == RunState::ended) ++leader;
  if (leader == runs.runs().size()) return;
  const std::size_t level = runs.runs()[leader].cursor.take_repeated();
  if (level == SequenceCursor::no_level) return;
  const bool known = level < of_level_.size() && of_level_[level].period > 0 && of_level_[level].leader == leader;
  of_level_.resize(level + 1);  // loops inside have begun anew
  Snapshot& before = of_level_[level];
  describe(runs, state_, done_);
  if (known && before.state == state_) {
    if (const std::int64_t times = repetitions(before, runs); times > 0) {
      carry_on(before, runs, times);
      before = {};
      return;
    }
  }
  if (known && --before.until_next > 0) return;
  // Twice as long each time, so that a period of any length is found, and in a loop of n trips log n are taken down.
  before.period = known ? 2 * before.period : 1;
  before.until_next = before.period;
  take(before, runs, leader);
}

void SteadyState::describe(const CoreRuns& runs, std::vector<std::int64_t>& state, std::vector<std::int64_t>& done) {
  state.clear();
  done.clear();
  const SharedDma& engine = runs.engine();
  for (const CoreRun& run : runs.runs()) {
    const auto& levels = run.cursor.levels();
    state.insert(state.end(), {static_cast<std::int64_t>(run.state), static_cast<std::int64_t>(levels.size()),
                               static_cast<std::int64_t>(run.pending.size())});
    if (run.state != RunState::ended) state.push_back(run.now - engine.now());
    for (const SequenceCursor::Level& level : levels) {
      state.insert(state.end(), {level.sequence.value, static_cast<std::int64_t>(level.part)});
      done.push_back(level.done);
    }
    for (const PendingTransfer& transfer : run.pending) {
      const SharedDma::Progress progress = engine.progress_of(transfer.number);
      state.insert(state.end(),
                   {transfer.request->statement.value, transfer.request->slot->value, transfer.begun - engine.now(),
                    static_cast<std::int64_t>(transfer.is_awaited), progress.phase, progress.left, progress.taken_in});
    }
    if (run.awaited > 0) {
      state.insert(state.end(),
                   {run.last_end - engine.now(), run.last == nullptr ? -1 : std::int64_t{run.last->statement.value}});
    }
  }
}

void SteadyState::take(Snapshot& snapshot, const CoreRuns& runs, std::size_t leader) const {
  snapshot.leader = leader;
  snapshot.cycle = runs.engine().now();
  snapshot.state = state_;
  snapshot.done = done_;
  snapshot.busy = runs.engine().busy_cycles();
  snapshot.totals = runs.totals();
  if (const Timeline* const timeline = runs.timeline()) {
    snapshot.slices = timeline->slices.size();
    snapshot.transfers = timeline->transfers.size();
  }
  snapshot.waiting.clear();
  for (const CoreRun& run : runs.runs()) {
    snapshot.waiting.insert(snapshot.waiting.end(),
                            {run.waiting_for_gets, run.waiting_for_puts, run.waiting_at_barriers});
  }
}

std::int64_t SteadyState::repetitions(const Snapshot& before, const CoreRuns& runs) const {
  std::int64_t times = std::numeric_limits<std::int64_t>::max();
  std::size_t at = 0;
  for (const CoreRun& run : runs.runs()) {
    int gone_on = 0;
    for (std::size_t level = 0; level < run.cursor.levels().size(); ++level, ++at) {
      const std::int64_t more = done_[at] - before.done[at];
      if (more == 0) continue;
      if (more < 0 || ++gone_on > 1) return 0;
      times = std::min(times, (run.cursor.times(level) - 1 - done_[at]) / more);
    }
  }
  const std::int64_t cycles = runs.engine().now() - before.cycle;
  return cycles == 0 ? times : std::min(times, cycle_limit / cycles + 1);  // further it has no use
}

void SteadyState::carry_on(const Snapshot& before, CoreRuns& runs, std::int64_t times) const {
  const std::int64_t cycles = (runs.engine().now() - before.cycle) * times;
  std::size_t at = 0;
  std::size_t waiting = 0;
  for (CoreRun& run : runs.runs()) {
    for (std::size_t level = 0; level < run.cursor.levels().size(); ++level, ++at) {
      run.cursor.skip(level, (done_[at] - before.done[at]) * times);
    }
    for (std::int64_t* const sum : {&run.waiting_for_gets, &run.waiting_for_puts, &run.waiting_at_barriers}) {
      *sum += (*sum - before.waiting[waiting++]) * times;
    }
    if (run.state == RunState::ended) continue;
    run.now += cycles;
    run.last_end += cycles;
    for (PendingTransfer& transfer : run.pending) transfer.begun += cycles;
  }
  RunTotals& totals = runs.totals();
  for (const AskerId s : totals.waited.ids()) {
    totals.waited[s] += (totals.waited[s] - before.totals.waited[s]) * times;
    totals.under_way[s] += (totals.under_way[s] - before.totals.under_way[s]) * times;
  }
  if (Timeline* const timeline = runs.timeline()) {
    timeline->repeats.push_back({before.slices, timeline->slices.size(), before.transfers, timeline->transfers.size(),
                                 runs.engine().now() - before.cycle, times});
  }
  runs.engine().skip(cycles, (runs.engine().busy_cycles() - before.busy) * times);
}

}  // namespace stowage
