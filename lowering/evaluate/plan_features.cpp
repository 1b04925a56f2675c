// SPDX-License-Identifier: Apache-2.0
#include "lowering/evaluate/plan_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <variant>

#include "core/check.h"
#include "core/tensor.h"
#include "lowering/simulate/execution_cost.h"
#include "lowering/simulate/request_sequences.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/overlap.h"

namespace stowage {
namespace {

constexpr std::array table = {
    PlanFeatureRow{"get", "cycles of loads that are not hidden"},
    PlanFeatureRow{"put", "cycles of stores that are not hidden"},
    PlanFeatureRow{"barrier", "cycles of barriers at what cores load together"},
    PlanFeatureRow{"compute", "cycles of computation"},
    PlanFeatureRow{"fill", "cycles of fills"},
    PlanFeatureRow{"hidden gets", "cycles of loads that pass beside computation and calls"},
    PlanFeatureRow{"hidden puts", "cycles of stores that do"},
    PlanFeatureRow{"hidden team gets", "cycles of loads of several cores together that do"},
    PlanFeatureRow{"filled", "cycles of transfers that pass beside other transfers"},
    PlanFeatureRow{"moving gets", "cycles in which loads move, without start-up"},
    PlanFeatureRow{"moving puts", "cycles in which stores move"},
    PlanFeatureRow{"moving team gets", "cycles in which loads of several cores together move"},
    PlanFeatureRow{"start-up", "cycles in which transfers of the busiest core start"},
    PlanFeatureRow{"issue", "cycles of the busiest core's calls"},
    PlanFeatureRow{"one core", "cycles for which loads wait for what one core reaches"},
    PlanFeatureRow{"log cycles", "logarithm of the closed form's cycles, base 2"},
    PlanFeatureRow{"log bytes", "logarithm of the bytes moved"},
    PlanFeatureRow{"cores", "share of the target's cores that are used"},
    PlanFeatureRow{"slots", "share of buffers with several slots"},
    PlanFeatureRow{"ldm", "share of the LDM that buffers take"},
    PlanFeatureRow{"log get trips", "logarithm of the most executions of one load by the busiest core"},
    PlanFeatureRow{"log put trips", "logarithm of the most executions of one store by the busiest core"},
    PlanFeatureRow{"log get block", "logarithm of the mean block of loads, in bytes"},
    PlanFeatureRow{"log put block", "logarithm of the mean block of stores"},
    PlanFeatureRow{"even points", "points of the largest computation, as a share of the busiest core's on all"},
    PlanFeatureRow{"even bytes", "bytes moved, as a share of the busiest core's on all"},
    PlanFeatureRow{"even calls", "calls, as a share of the busiest core's on all"},
    PlanFeatureRow{"even boxes", "mean box of the largest computation, as a share of the largest box"},
    PlanFeatureRow{"asked busy", "cycles in which the core that asks for most computes and issues calls"},
    PlanFeatureRow{"asked mean busy", "the same, mean of all cores"},
    PlanFeatureRow{"asked calls", "cycles of the calls of the core that asks for most of them"},
    PlanFeatureRow{"asked engine", "cycles of the DMA engine that all transfers ask for"},
    PlanFeatureRow{"asked engine of core", "cycles of the engine for the core that asks for most of them"},
    PlanFeatureRow{"asked start-up", "cycles of start-up of the core that asks for most of them"},
    PlanFeatureRow{"asked barriers", "cycles of barriers of the core that has most"},
    PlanFeatureRow{"log kinds of cores", "logarithm of the number of different sequences of requests"},
    PlanFeatureRow{"trip by trip",
                   "of that core, the sum, over stretches without a loop, of the longer of computation and "
                   "all cores' transfers meanwhile"},
    PlanFeatureRow{"trip by trip of all", "the same, the most of any core"},
};

double log_of(double value) { return std::log2(std::max(1.0, value)); }

/// Sums over the cost table.
struct TableSums {
  double get = 0, put = 0, barrier = 0, compute = 0, fill = 0;
  double hidden_gets = 0, hidden_puts = 0, hidden_team_gets = 0, filled = 0;
  double moving_gets = 0, moving_puts = 0, moving_team_gets = 0;
  double startup = 0, issue = 0, one_core = 0;
  double get_trips = 0, put_trips = 0;
};

void add_transfer(TableSums& sums, const TransferCost& cost, bool of_team) {
  const bool is_get = cost.direction == DmaDirection::get;
  const double moving = moving_seconds(cost) * cost.clock_hz;
  const auto hidden = static_cast<double>(cost.hidden_cycles);
  const auto trips = static_cast<double>(cost.transfers_of_busiest);
  (is_get ? sums.hidden_gets : sums.hidden_puts) += hidden;
  (is_get ? sums.moving_gets : sums.moving_puts) += moving;
  double& maximum = is_get ? sums.get_trips : sums.put_trips;
  maximum = std::max(maximum, trips);
  if (of_team) {
    sums.hidden_team_gets += hidden;
    sums.moving_team_gets += moving;
  }
  sums.filled += static_cast<double>(cost.filled_cycles);
  sums.startup += trips * cost.startup_cycles;
  sums.issue += issuing_cycles(cost);
  sums.one_core += cost.one_core_seconds * cost.clock_hz;
}

TableSums table_sums(const Plan& plan, const Target& target) {
  TableSums sums;
  for (const Cost& cost : overlapped_costs(plan.nest, plan.counts, target)) {
    const auto cycles = static_cast<double>(cycles_of(cost.formula));
    switch (kind_of(cost.formula)) {
      case CostKind::launch: continue;
      case CostKind::get: sums.get += cycles; break;
      case CostKind::put: sums.put += cycles; break;
      case CostKind::barrier:
      case CostKind::broadcast: sums.barrier += cycles; break;
      case CostKind::compute: sums.compute += cycles; break;
      case CostKind::fill: sums.fill += cycles; break;
    }
    if (const auto* transfer = std::get_if<TransferCost>(&cost.formula)) {
      const auto& dma = std::get<Dma>(find_statement(plan.nest, *cost.statement)->node);
      add_transfer(sums, *transfer, dma.to != Space::ldm);
    }
  }
  return sums;
}

/// From the predicted counts.
struct CountSums {
  double bytes = 0, calls = 0;
  double busiest_bytes = 0, busiest_calls = 0;
  double get_block = 0, put_block = 0;  ///< mean
  double even_points = 1, even_boxes = 1;
};

CountSums count_sums(const Plan& plan) {
  CountSums sums;
  std::map<DmaDirection, std::pair<double, double>> moved;  // bytes, blocks
  for (const auto& [id, totals] : plan.counts.dma) {
    const auto& dma = std::get<Dma>(find_statement(plan.nest, id)->node);
    sums.bytes += static_cast<double>(totals.bytes);
    sums.calls += static_cast<double>(totals.operations);
    for (const auto& [block, bytes] : totals.bytes_by_block) {
      moved[dma.direction].first += static_cast<double>(bytes);
      moved[dma.direction].second += static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(1, block));
    }
  }
  for (const auto& [id, totals] : plan.counts.dma_of_busiest_core) {
    sums.busiest_bytes += static_cast<double>(totals.bytes);
    sums.busiest_calls += static_cast<double>(totals.operations);
  }
  const auto mean = [&](DmaDirection direction) {
    const auto& [bytes, blocks] = moved[direction];
    return blocks > 0 ? bytes / blocks : 0;
  };
  sums.get_block = mean(DmaDirection::get);
  sums.put_block = mean(DmaDirection::put);
  const ComputeTotals* largest = nullptr;
  for (const auto& [id, totals] : plan.counts.compute) {
    if (largest == nullptr || totals.points_of_busiest > largest->points_of_busiest) largest = &totals;
  }
  if (largest == nullptr || largest->points_of_busiest == 0) return sums;
  const auto busiest = static_cast<double>(largest->points_of_busiest);
  sums.even_points = static_cast<double>(largest->points) / (busiest * plan.nest.cores_used());
  for (const BoxCounts& boxes : largest->boxes) {
    std::int64_t of_core = 0;
    std::int64_t maximum = 0;
    std::int64_t executions = 0;
    for (const auto& [extents, times] : boxes) {
      const std::int64_t points = element_count(extents);
      maximum = std::max(maximum, points);
      executions += times;
      of_core += times * points;
    }
    if (of_core == largest->points_of_busiest)
      sums.even_boxes = busiest / static_cast<double>(executions) / static_cast<double>(maximum);
  }
  return sums;
}

/// What one sequence of requests asks for, in cycles.
struct Asked {
  double computing = 0, issuing = 0, engine = 0, startup = 0, barriers = 0;
  double trip_by_trip = 0;

  void add(const Asked& other, double times) {
    computing += times * other.computing;
    issuing += times * other.issuing;
    engine += times * other.engine;
    startup += times * other.startup;
    barriers += times * other.barriers;
    trip_by_trip += times * other.trip_by_trip;
  }
  [[nodiscard]] double busy() const { return computing + issuing; }
};

/// Of each sequence. `engine_of_all`: how much the engine does for all cores while it does one cycle for the core that
/// runs it.
IdVector<SequenceId, Asked> asked_of_sequences(const RequestSequences& all, double engine_of_all) {
  IdVector<SequenceId, Asked> of_sequence(all.sequences.size());
  for (const SequenceId s : all.sequences.ids()) {
    Asked& sum = of_sequence[s];
    Asked stretch;
    const auto end_stretch = [&] {
      stretch.trip_by_trip = std::max(stretch.busy(), stretch.engine * engine_of_all);
      sum.add(stretch, 1);
      stretch = {};
    };
    for (const SequencePart& part : all.sequences[s].parts) {
      const auto times = static_cast<double>(part.times);
      if (!part.request) {
        const SequenceId inner = part.sequence;
        if (all.sequences[inner].only_computes) {
          stretch.computing += times * of_sequence[inner].computing;
          continue;
        }
        end_stretch();
        sum.add(of_sequence[inner], times);
        continue;
      }
      const Request& request = all.requests[*part.request];
      stretch.barriers += times * static_cast<double>(request.meeting_cycles);
      stretch.computing += times * static_cast<double>(request.cycles);
      stretch.issuing += times * static_cast<double>(request.execution.issue_cycles);
      stretch.startup += times * static_cast<double>(request.execution.startup_cycles);
      stretch.engine += times * static_cast<double>(request.execution.engine_parts) / parts_of_cycle;
    }
    end_stretch();
  }
  return of_sequence;
}

struct AskedSums {
  double busy = 0, mean_busy = 0, calls = 0, engine = 0, engine_of_core = 0, startup = 0, barriers = 0;
  double kinds = 0, trip_by_trip = 0, trip_by_trip_of_all = 0;
};

AskedSums asked_sums(const RequestSequences& all) {
  const auto cores = static_cast<double>(all.of_core.size());
  const IdVector<SequenceId, Asked> of_sequence = asked_of_sequences(all, 1);
  AskedSums sums;
  SequenceId mover = all.of_core.front();  // the sequence of the core for which the engine does most
  for (const SequenceId sequence : all.of_core) {
    const Asked& core = of_sequence[sequence];
    sums.busy = std::max(sums.busy, core.busy());
    sums.mean_busy += core.busy() / cores;
    sums.calls = std::max(sums.calls, core.issuing);
    sums.engine += core.engine;
    if (core.engine > of_sequence[mover].engine) mover = sequence;
    sums.startup = std::max(sums.startup, core.startup);
    sums.barriers = std::max(sums.barriers, core.barriers);
  }
  sums.engine_of_core = of_sequence[mover].engine;
  if (sums.engine_of_core > 0) {
    const IdVector<SequenceId, Asked> shared = asked_of_sequences(all, sums.engine / sums.engine_of_core);
    sums.trip_by_trip = shared[mover].trip_by_trip;
    for (const SequenceId sequence : all.of_core) {
      const Asked& core = shared[sequence];
      sums.trip_by_trip_of_all = std::max(sums.trip_by_trip_of_all, core.trip_by_trip);
    }
  }
  sums.kinds = static_cast<double>(std::set<SequenceId>(all.of_core.begin(), all.of_core.end()).size());
  return sums;
}

double share_with_slots(const LoopNest& nest) {
  double slots = 0;
  for (const Buffer& buffer : nest.buffers) slots += buffer.slots > 1 ? 1 : 0;
  return nest.buffers.size() == 0 ? 0 : slots / static_cast<double>(nest.buffers.size());
}

}  // namespace

std::span<const PlanFeatureRow> plan_feature_table() { return table; }

PlanFeatures features_of(const Plan& plan, const Target& target, const RequestSequences& requests) {
  PlanFeatures features;
  features.launch_cycles = cycles_of(launch_cost(plan.nest.launch, target));
  features.closed_cycles = plan.time.cycles - features.launch_cycles;
  const TableSums t = table_sums(plan, target);
  const CountSums c = count_sums(plan);
  const AskedSums a = asked_sums(requests);
  const double whole = std::max(1.0, static_cast<double>(features.closed_cycles));
  const auto share = [&](double cycles) { return cycles / whole; };
  const double cores = plan.nest.cores_used();
  const auto even = [&](double all, double busiest) { return busiest > 0 ? all / (busiest * cores) : 1.0; };
  features.base_cycles = features.closed_cycles + std::llround(std::max(0.0, a.busy - t.compute - t.fill - t.issue));
  features.values = {
      share(t.get),
      share(t.put),
      share(t.barrier),
      share(t.compute),
      share(t.fill),
      share(t.hidden_gets),
      share(t.hidden_puts),
      share(t.hidden_team_gets),
      share(t.filled),
      share(t.moving_gets),
      share(t.moving_puts),
      share(t.moving_team_gets),
      share(t.startup),
      share(t.issue),
      share(t.one_core),
      log_of(whole),
      log_of(c.bytes),
      cores / target.cores.count,
      share_with_slots(plan.nest),
      static_cast<double>(plan.nest.ldm_bytes) / static_cast<double>(target.ldm.bytes),
      log_of(t.get_trips),
      log_of(t.put_trips),
      log_of(c.get_block),
      log_of(c.put_block),
      c.even_points,
      even(c.bytes, c.busiest_bytes),
      even(c.calls, c.busiest_calls),
      c.even_boxes,
      share(a.busy),
      share(a.mean_busy),
      share(a.calls),
      share(a.engine),
      share(a.engine_of_core),
      share(a.startup),
      share(a.barriers),
      log_of(a.kinds),
      share(a.trip_by_trip),
      share(a.trip_by_trip_of_all),
  };
  check(features.values.size() == table.size(), "a feature has no row, or a row no feature");
  return features;
}

}  // namespace stowage
