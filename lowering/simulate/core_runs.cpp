// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/core_runs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/check.h"

namespace stowage {

CoreRuns::CoreRuns(const RequestSequences& all, std::int64_t start, bool together, DmaOrder order, Timeline* timeline)
    : all_(&all), engine_(order), timeline_(timeline) {
  const Computations computations = timeline == nullptr ? Computations::together
                                    : together          ? Computations::alike
                                                        : Computations::each;
  const std::vector<InStep> teams = cores_in_step(together);
  std::map<std::size_t, std::size_t> run_of;  // by what is alike
  for (std::size_t core = 0; core < all.of_core.size(); ++core) {
    const auto [found, is_new] = run_of.try_emplace(teams[core].alike, runs_.size());
    if (is_new || !together) {
      found->second = runs_.size();
      runs_.emplace_back(all, all.of_core[core], computations);
      runs_.back().now = start;
      runs_.back().rows = teams[core].row;
      runs_.back().columns = teams[core].column;
    }
    runs_[found->second].cores.push_back(static_cast<int>(core));
  }
  totals_.waited.assign(all.statements.size(), 0);
  totals_.under_way.assign(all.statements.size(), 0);
  if (timeline != nullptr) {
    awaited_.resize(runs_.size());
    for (const CoreRun& run : runs_) timeline->alike.push_back(run.cores);
    for (const Request& request : all.requests) timeline->uses.push_back(request.uses);
  }
  engine_.advance(start);
}

std::vector<CoreRuns::InStep> CoreRuns::cores_in_step(bool together) const {
  const std::size_t cores = all_->of_core.size();
  std::vector<InStep> teams(cores);
  if (all_->columns == 0) {
    for (std::size_t core = 0; core < cores; ++core) teams[core].alike = all_->of_core[core].index();
    return teams;
  }
  const auto columns = static_cast<std::size_t>(all_->columns);
  if (!together) {
    for (std::size_t core = 0; core < cores; ++core) {
      const auto row = static_cast<int>(core / columns);
      teams[core] = {all_->of_core[core].index(), all_->meet_in_rows ? row : 0,
                     all_->meet_in_columns ? static_cast<int>(core % columns) : 0};
    }
    return teams;
  }
  // Cores are alike if they have the same sequence, and those of their row and of their column are alike one by one:
  // what is alike so far is told apart by its rows and columns, until nothing more is.
  std::vector<std::size_t> alike;
  for (const SequenceId sequence : all_->of_core) alike.push_back(sequence.index());
  std::size_t kinds = 0;
  for (;;) {
    const auto number_teams = [&](bool in_rows, int InStep::*number) {
      std::map<std::vector<std::size_t>, int> known;
      const std::size_t count = in_rows ? cores / columns : columns;
      for (std::size_t team = 0; team < count; ++team) {
        const std::size_t first = in_rows ? team * columns : team;
        const std::size_t step = in_rows ? 1 : columns;
        const std::size_t end = in_rows ? first + columns : cores;
        std::vector<std::size_t> of_team;
        for (std::size_t core = first; core < end; core += step) of_team.push_back(alike[core]);
        const int found = known.try_emplace(of_team, static_cast<int>(known.size())).first->second;
        for (std::size_t core = first; core < end; core += step) teams[core].*number = found;
      }
    };
    if (all_->meet_in_rows) number_teams(true, &InStep::row);
    if (all_->meet_in_columns) number_teams(false, &InStep::column);
    std::map<std::tuple<std::size_t, int, int>, std::size_t> known;
    for (std::size_t core = 0; core < cores; ++core) {
      const std::tuple<std::size_t, int, int> key(alike[core], teams[core].row, teams[core].column);
      teams[core].alike = known.try_emplace(key, known.size()).first->second;
    }
    if (known.size() == kinds) return teams;
    kinds = known.size();
    for (std::size_t core = 0; core < cores; ++core) alike[core] = teams[core].alike;
  }
}

void CoreRuns::go_on(std::size_t index) {
  CoreRun& run = runs_[index];
  run.state = RunState::runs;
  while (run.state == RunState::runs) {
    const SequenceStep step = run.cursor.next();
    ++totals_.steps;
    if (step.request == nullptr) {
      if (step.is_end()) run.state = RunState::ended;
      run.now += step.cycles;
    } else if (step.request->kind == Request::Kind::compute) {
      run.now += step.cycles;
      record(run, Timeline::Slice::Kind::compute, *step.request, run.now - step.cycles);
    } else if (step.request->kind == Request::Kind::transfer) {
      start(run, index, *step.request);
    } else if (step.request->kind == Request::Kind::barrier) {
      run.state = RunState::at_barrier;
      run.last = step.request;
    } else if (must_wait(run, *step.request)) {
      run.state = RunState::waits;
    }
  }
}

void CoreRuns::start(CoreRun& run, std::size_t index, const Request& request) {
  const TransferExecution& execution = request.execution;
  const std::int64_t begun = run.now;
  run.now += execution.issue_cycles;
  const std::size_t number = engine_.start(run.now + execution.startup_cycles, execution.engine_parts,
                                           execution.least_cycles, static_cast<std::int64_t>(run.cores.size()), index);
  if (number >= owner_.size()) owner_.resize(number + 1, 0);
  owner_[number] = index;
  run.pending.push_back({&request, number, begun, false});
  record(run, Timeline::Slice::Kind::issue, request, begun);
}

bool CoreRuns::must_wait(CoreRun& run, const Request& request) {
  for (PendingTransfer& transfer : run.pending) {
    const bool is_meant = request.kind == Request::Kind::await_slot ? transfer.request->slot == request.slot
                                                                    : transfer.request->statement == request.awaited;
    if (!is_meant) continue;
    transfer.is_awaited = true;
    ++run.awaited;
  }
  run.last = nullptr;
  run.last_end = run.now;
  return run.awaited > 0;
}

bool CoreRuns::end_transfer(std::size_t number) {
  CoreRun& run = runs_[owner_of(number)];
  const auto found = std::find_if(run.pending.begin(), run.pending.end(),
                                  [&](const PendingTransfer& transfer) { return transfer.number == number; });
  check(found != run.pending.end(), "a transfer ends once");
  const PendingTransfer ended = *found;
  run.pending.erase(found);
  const auto cores = static_cast<std::int64_t>(run.cores.size());
  totals_.under_way[ended.request->statement] += (engine_.now() - ended.begun) * cores;
  ++totals_.steps;
  record(run, ended);
  if (!ended.is_awaited) return false;
  // Of several that end a wait together, the first in the program counts.
  if (engine_.now() > run.last_end ||
      (engine_.now() == run.last_end && run.last != nullptr && ended.request->statement < run.last->statement)) {
    run.last = ended.request;
    run.last_end = engine_.now();
  }
  if (--run.awaited > 0) return false;
  if (run.last != nullptr) {
    const std::int64_t waited = run.last_end - run.now;
    (run.last->direction == DmaDirection::get ? run.waiting_for_gets : run.waiting_for_puts) += waited;
    totals_.waited[run.last->statement] += waited * cores;
    const std::int64_t from = std::exchange(run.now, run.last_end);
    record(run,
           run.last->direction == DmaDirection::get ? Timeline::Slice::Kind::wait_for_get
                                                    : Timeline::Slice::Kind::wait_for_put,
           *run.last, from);
  }
  if (timeline_ != nullptr) awaited_[owner_of(number)].clear();
  return true;
}

std::vector<std::size_t> CoreRuns::open_barriers() {
  struct Team {
    std::size_t runs = 0;
    std::vector<std::size_t> come;
  };
  std::map<std::pair<Space, int>, Team> teams;  // rows and columns
  std::vector<std::size_t> at_mesh;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const CoreRun& run = runs_[r];
    ++teams[{Space::row, run.rows}].runs;
    ++teams[{Space::column, run.columns}].runs;
    if (run.state != RunState::at_barrier) continue;
    const Space team = run.last->team;
    if (team == Space::mesh) {
      at_mesh.push_back(r);
    } else {
      teams[{team, team == Space::row ? run.rows : run.columns}].come.push_back(r);
    }
  }
  std::vector<std::size_t> opened;
  for (const auto& [which, team] : teams) {
    if (team.come.size() < team.runs) continue;
    open_barrier(team.come);
    opened.insert(opened.end(), team.come.begin(), team.come.end());
  }
  if (at_mesh.size() == runs_.size()) {
    open_barrier(at_mesh);
    opened = std::move(at_mesh);
  }
  return opened;
}

void CoreRuns::open_barrier(const std::vector<std::size_t>& team) {
  const std::int64_t cycles = runs_[team.front()].last->meeting_cycles;
  std::int64_t open = 0;
  for (const std::size_t r : team) open = std::max(open, runs_[r].now + cycles);
  for (const std::size_t r : team) {
    CoreRun& run = runs_[r];
    run.waiting_at_barriers += open - run.now;
    const std::int64_t from = std::exchange(run.now, open);
    record(run, Timeline::Slice::Kind::wait_at_barrier, *run.last, from);
  }
}

void CoreRuns::record(const CoreRun& run, Timeline::Slice::Kind kind, const Request& request, std::int64_t from) {
  if (timeline_ == nullptr || run.now == from) return;
  const StatementId statement = all_->statements[request.statement]->id;
  const bool computes = kind == Timeline::Slice::Kind::compute;
  const auto uses = computes ? std::optional(all_->requests.id_of(request).index()) : std::nullopt;
  timeline_->slices.push_back({kind, run.cores.front(), statement, uses, from, run.now});
  if (kind != Timeline::Slice::Kind::wait_for_get && kind != Timeline::Slice::Kind::wait_for_put) return;
  for (const std::size_t transfer : awaited_[static_cast<std::size_t>(&run - runs_.data())]) {
    timeline_->transfers[transfer].wait = timeline_->slices.size() - 1;
  }
}

void CoreRuns::record(const CoreRun& run, const PendingTransfer& ended) {
  if (timeline_ == nullptr) return;
  const TransferExecution& execution = ended.request->execution;
  // One that was there before the core came to its wait has nobody waiting for it.
  if (ended.is_awaited && engine_.now() > run.now) {
    awaited_[static_cast<std::size_t>(&run - runs_.data())].push_back(timeline_->transfers.size());
  }
  timeline_->transfers.push_back({run.cores.front(), all_->statements[ended.request->statement]->id, ended.begun,
                                  engine_.moved_from(ended.number), engine_.now(), execution.bytes,
                                  execution.engine_parts, std::nullopt, *ended.request->slot,
                                  ended.request->direction == DmaDirection::put});
}

}  // namespace stowage
