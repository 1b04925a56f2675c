// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/simulate.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/simulate/core_runs.h"
#include "lowering/simulate/steady_state.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/cycle_limit.h"

namespace stowage {
namespace {

/// The order in which events of one cycle are taken.
class EventOrder {
 public:
  explicit EventOrder(const std::optional<std::uint64_t>& seed) {
    if (seed) random_.emplace(*seed);
  }
  template <class Events>
  void arrange(Events& events) {
    if (random_) std::shuffle(events.begin(), events.end(), *random_);
  }

 private:
  std::optional<std::mt19937_64> random_;
};

bool records_repeats(const SimulationOptions& options) {
  return options.timeline != nullptr && options.recording == Recording::with_repeats;
}

bool extrapolates(const SimulationOptions& options) {
  return options.extrapolate && (options.timeline == nullptr || records_repeats(options));
}

/// Why a run to the end was given up.
std::optional<Decision> run_all(CoreRuns& runs, const SimulationOptions& options, const std::stop_token& stop) {
  constexpr std::int64_t events_between_looks_at_stop = 1 << 14;
  EventOrder order(options.order_seed);
  SteadyState steady;
  std::vector<std::size_t> ready(runs.runs().size());
  for (std::size_t run = 0; run < ready.size(); ++run) ready[run] = run;
  for (std::int64_t events = 0;; ++events) {
    order.arrange(ready);
    while (!ready.empty()) {
      for (const std::size_t run : ready) runs.go_on(run);
      ready = runs.open_barriers();
      order.arrange(ready);
    }
    if (extrapolates(options)) steady.look(runs);
    const std::int64_t next = runs.engine().next_event();
    if (next != SharedDma::never) {
      std::vector<std::size_t> ended = runs.engine().advance(next);
      order.arrange(ended);
      for (const std::size_t transfer : ended) {
        if (runs.end_transfer(transfer)) ready.push_back(runs.owner_of(transfer));
      }
    } else {
      break;
    }
    if (runs.engine().now() > cycle_limit) break;
    if (events % events_between_looks_at_stop == 0 && stop.stop_requested()) {
      return Decision{false, "stopped", "stopped", {}};
    }
  }
  for (const CoreRun& run : runs.runs()) {
    if (run.now > cycle_limit || runs.engine().now() > cycle_limit) {
      return Decision::refuse(std::string(cycle_limit_rule),
                              fmt::format("takes more than {} cycles in simulation", cycle_limit));
    }
    check(run.state == RunState::ended, "a core waits for ever in a nest that was verified");
  }
  return std::nullopt;
}

/// How often each sequence is run, by all cores together.
IdVector<SequenceId, std::int64_t> runs_of(const RequestSequences& all) {
  IdVector<SequenceId, std::int64_t> runs(all.sequences.size(), 0);
  for (const SequenceId sequence : all.of_core) ++runs[sequence];
  for (std::size_t number = all.sequences.size(); number-- > 0;) {
    const SequenceId s(number);
    for (const SequencePart& part : all.sequences[s].parts) {
      if (!part.request) runs[part.sequence] += runs[s] * part.times;
    }
  }
  return runs;
}

/// What follows from the sequences alone, whatever happens when.
struct Requested {
  std::vector<CoreTimes> of_core;  ///< computing and issuing
  std::vector<std::int64_t> issuing_puts;
  IdVector<AskerId, StatementTimes> of_statement;  ///< executions, and cycles of computations
  DmaTimes dma;                                    ///< transfers, operations, bytes
  std::int64_t events = 0;
};

Requested requested(const RequestSequences& all) {
  Requested sums;
  for (const Stmt* statement : all.statements) sums.of_statement.push_back({statement->id, 0, 0, 0});
  const IdVector<SequenceId, std::int64_t> runs = runs_of(all);
  IdVector<SequenceId, CoreTimes> of_sequence(all.sequences.size());
  IdVector<SequenceId, std::int64_t> puts_of_sequence(all.sequences.size(), 0);
  for (const SequenceId s : all.sequences.ids()) {
    for (const SequencePart& part : all.sequences[s].parts) {
      if (!part.request) {
        const CoreTimes& inner = of_sequence[part.sequence];
        of_sequence[s].computing += inner.computing * part.times;
        of_sequence[s].issuing += inner.issuing * part.times;
        puts_of_sequence[s] += puts_of_sequence[part.sequence] * part.times;
        continue;
      }
      const Request& request = all.requests[*part.request];
      const std::int64_t times = runs[s] * part.times;
      StatementTimes& statement = sums.of_statement[request.statement];
      const Stmt& executed = *all.statements[request.statement];
      of_sequence[s].computing += request.cycles * part.times;
      of_sequence[s].issuing += request.execution.issue_cycles * part.times;
      if (request.direction == DmaDirection::put) puts_of_sequence[s] += request.execution.issue_cycles * part.times;
      const bool beside = request.kind == Request::Kind::barrier && std::holds_alternative<Dma>(executed.node);
      statement.executions += beside ? 0 : times;
      statement.cycles += request.cycles * times;
      sums.events += times;
      if (request.kind != Request::Kind::transfer) continue;
      sums.events += times;  // its end
      sums.dma.transfers += times;
      sums.dma.operations += request.execution.operations * times;
      sums.dma.bytes += request.execution.bytes * times;
    }
  }
  for (const SequenceId sequence : all.of_core) {
    sums.of_core.push_back(of_sequence[sequence]);
    sums.issuing_puts.push_back(puts_of_sequence[sequence]);
  }
  return sums;
}

bool has_times(const Stmt& statement) {
  return std::holds_alternative<Dma>(statement.node) || std::holds_alternative<Compute>(statement.node) ||
         std::holds_alternative<Fill>(statement.node);
}

Simulation result_of(const RequestSequences& all, const CoreRuns& runs, std::int64_t launch_cycles) {
  Requested sums = requested(all);
  Simulation result;
  result.launch_cycles = launch_cycles;
  result.cycles = runs.engine().now();
  for (const CoreRun& run : runs.runs()) result.cycles = std::max(result.cycles, run.now);
  result.cores = std::move(sums.of_core);
  result.issuing_puts = std::move(sums.issuing_puts);
  for (const CoreRun& run : runs.runs()) {
    for (const int core : run.cores) {
      CoreTimes& times = result.cores[static_cast<std::size_t>(core)];
      times.waiting_for_gets = run.waiting_for_gets;
      times.waiting_for_puts = run.waiting_for_puts;
      times.waiting_at_barriers = run.waiting_at_barriers;
      times.idle = result.cycles - run.now;
    }
  }
  result.dma = sums.dma;
  result.dma.busy_cycles = runs.engine().busy_cycles();
  for (const AskerId s : all.statements.ids()) {
    if (!has_times(*all.statements[s])) continue;
    StatementTimes times = sums.of_statement[s];
    times.cycles += runs.totals().under_way[s];
    times.waited = runs.totals().waited[s];
    result.statements.push_back(times);
  }
  result.events = sums.events;
  result.steps = runs.totals().steps;
  return result;
}

Simulated run_requests(const RequestSequences& all, std::int64_t launch_cycles, const SimulationOptions& options,
                       const std::stop_token& stop) {
  CoreRuns runs(all, launch_cycles, extrapolates(options), options.dma_order, options.timeline);
  if (auto given_up = run_all(runs, options, stop)) return *std::move(given_up);
  return result_of(all, runs, launch_cycles);
}

}  // namespace

std::size_t Simulation::last_core() const {
  const auto last = std::min_element(cores.begin(), cores.end(),
                                     [](const CoreTimes& a, const CoreTimes& b) { return a.idle < b.idle; });
  return static_cast<std::size_t>(last - cores.begin());
}

std::int64_t Simulation::exposed_dma_cycles() const {
  const CoreTimes& last = cores.at(last_core());
  return last.waiting_for_dma() + last.idle;
}

Simulated simulate(const LoopNest& given, const Target& target, const SimulationOptions& options,
                   const std::stop_token& stop) {
  const ComputedBoxes computed(given);
  const LoopNest& nest = computed.nest();
  if (const auto unknown = without_rate(nest, target)) {
    const std::size_t end_of_rule = unknown->find(": ");
    return Decision::refuse(unknown->substr(0, end_of_rule), unknown->substr(end_of_rule + 2));
  }
  const ExecutionCosts costs(nest, target);
  const Sharing sharing = !extrapolates(options)     ? Sharing::none
                          : records_repeats(options) ? Sharing::equal_slots
                                                     : Sharing::equal;
  return run_requests(request_sequences(nest, costs, sharing), costs.launch_cycles(), options, stop);
}

Simulated simulate(const RequestSequences& requests, std::int64_t launch_cycles, const std::stop_token& stop) {
  return run_requests(requests, launch_cycles, {}, stop);
}

}  // namespace stowage
