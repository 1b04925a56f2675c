// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/cost_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "core/overloaded.h"
#include "core/tensor.h"
#include "lowering/ir/compute_form.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"
#include "lowering/ir/register_broadcasts.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/time/block_alignment.h"
#include "lowering/time/core_costs.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

/// A plan of 2^50 cycles is refused anyway.
std::int64_t whole_cycles(double cycles) {
  return std::llround(std::ceil(std::min(cycles, static_cast<double>(std::int64_t{1} << 50))));
}

/// Barriers that one of a team is made of: of all cores of some rows two, of each column and of each row.
std::int64_t barriers_of(const LoopNest& nest, Space team, const Target& target) {
  return team == Space::mesh && leaves_rows(nest, target) ? 2 : 1;
}

std::string_view form_name(ComputeForm form) {
  switch (form) {
    case ComputeForm::scalar: return "scalar";
    case ComputeForm::vector: return "vector";
    case ComputeForm::register_block: return "register block";
  }
  fail_check("unknown compute form");
}

double own_cycles(const TransferCost& cost) {
  return static_cast<double>(cost.transfers_of_busiest) * cost.startup_cycles + issuing_cycles(cost);
}

TransferCost transfer_cost(const Dma& dma, StatementId id, const NestCounts& counts, const BlockAlignment& alignment,
                           const Target& target) {
  TransferCost cost;
  cost.direction = dma.direction;
  cost.startup_cycles = target.dma.startup_cycles;
  cost.issue_cycles = target.dma.issue_cycles;
  cost.by_lines = target.dma.lines.has_value();
  cost.clock_hz = target.clock_hz;
  for (const auto& [block, moved] : counts.dma.at(id).bytes_by_block) {
    cost.moved.push_back({block, moved, dma_bandwidth(target, dma.direction, block, alignment)});
  }
  const auto busiest = counts.dma_of_busiest_core.find(id);
  if (busiest != counts.dma_of_busiest_core.end()) {
    cost.transfers_of_busiest = busiest->second.transfers;
    cost.calls_of_busiest = busiest->second.operations;
    if (target.dma.core_bytes_per_second > 0) {
      const double alone = static_cast<double>(busiest->second.bytes) / target.dma.core_bytes_per_second;
      cost.one_core_seconds = std::max(0.0, alone - moving_seconds(cost));
      cost.busiest_seconds = alone;
    }
  }
  return cost;
}

/// By statement; none on a target whose bandwidth does not depend on them.
std::map<StatementId, BlockAlignment> block_alignments(const LoopNest& given, const Target& target) {
  std::map<StatementId, BlockAlignment> alignments;
  if (!target.dma.lines) return alignments;
  const ComputedBoxes computed(given);
  const LoopNest& nest = computed.nest();
  visit_with_enclosing(nest, [&](const Stmt& statement, const Enclosing& around) {
    const auto* dma = std::get_if<Dma>(&statement.node);
    if (dma != nullptr) alignments.emplace(statement.id, block_alignment(nest, *dma, around, target));
  });
  return alignments;
}

/// A core may issue more calls than the one that moves most bytes, and compute less than the one with most points: what
/// it does both in, beyond these two, goes to the transfers of which it has more calls.
void add_most_calls(CostTable& table, const NestCounts& counts) {
  if (!counts.most_calls) return;
  double longer = 0;      // cycles
  double more_calls = 0;  // of its statements with more calls
  const auto more_of = [&](StatementId statement, const TransferCost& cost) {
    return static_cast<double>(counts.most_calls->operations.at(statement) - cost.calls_of_busiest);
  };
  for (const Cost& cost : table) {
    if (const auto* transfer = std::get_if<TransferCost>(&cost.formula)) {
      const double more = more_of(*cost.statement, *transfer);
      longer += more * transfer->issue_cycles;
      more_calls += std::max(0.0, more);
    } else if (const auto* compute = std::get_if<ComputeCost>(&cost.formula);
               compute && compute->points_of_busiest > 0) {
      const auto fewer = static_cast<double>(
          std::max<std::int64_t>(0, compute->points_of_busiest - counts.most_calls->points.at(*cost.statement)));
      longer -= static_cast<double>(cycles_of(*compute)) * fewer / static_cast<double>(compute->points_of_busiest);
    }
  }
  if (longer <= 0 || more_calls <= 0) return;
  for (Cost& cost : table) {
    auto* const transfer = std::get_if<TransferCost>(&cost.formula);
    if (transfer == nullptr) continue;
    transfer->more_calls_cycles = longer * std::max(0.0, more_of(*cost.statement, *transfer)) / more_calls;
  }
}

}  // namespace

std::optional<std::string> without_rate(const LoopNest& nest, const Target& target) {
  const std::map<StatementId, std::string> without = broadcasts_not_by_registers(nest, target);
  const Stmt* first = nullptr;
  visit_statements(nest.body, [&](const Stmt& s) {
    const bool is_get = !std::holds_alternative<Broadcast>(s.node);
    const bool priced = is_get ? team_of(s) != Space::column || sends_down_columns(target) : !without.contains(s.id);
    if (first == nullptr && !priced) first = &s;
  });
  if (first == nullptr) return std::nullopt;
  const Route route = *route_of(*first);
  const auto why = without.find(first->id);
  return fmt::format("no-rate: statement {}: nothing says how fast this transfer from {} to a {} is{}",
                     first->id.index(), name_of(route.from), name_of(route.to),
                     why == without.end() ? "" : ": " + why->second);
}

CostTable cost_table(const LoopNest& nest, const NestCounts& counts, const Target& target) {
  return cost_table(nest, counts, core_costs(nest, counts.compute, counts.fill, target), target);
}

CostTable cost_table(const LoopNest& nest, const NestCounts& counts, const CoreCosts& cores, const Target& target) {
  if (const auto unknown = without_rate(nest, target)) fail_check(*unknown);
  CostTable table;
  table.push_back({std::nullopt, launch_cost(nest.launch, target)});
  std::map<StatementId, BlockAlignment> alignments = block_alignments(nest, target);
  const auto transfers = [&](DmaDirection direction) {
    for (const auto& [id, totals] : counts.dma) {
      const auto& dma = std::get<Dma>(find_statement(nest, id)->node);
      if (dma.direction == direction) table.push_back({id, transfer_cost(dma, id, counts, alignments[id], target)});
    }
  };
  transfers(DmaDirection::get);
  const TeamBarriers barriers = counts.meetings.empty() ? TeamBarriers{} : team_barriers(nest);
  for (const CostKind kind : {CostKind::barrier, CostKind::broadcast}) {
    for (const auto& [id, meetings] : counts.meetings) {
      CostFormula cost = meeting_cost(nest, barriers, id, target);
      if (kind_of(cost) != kind) continue;
      if (auto* barrier = std::get_if<BarrierCost>(&cost)) barrier->barriers_of_busiest *= meetings.times;
      if (auto* broadcast = std::get_if<RegisterBroadcastCost>(&cost)) {
        broadcast->broadcasts *= meetings.times;
        broadcast->registers *= meetings.times;
      }
      table.push_back({id, cost});
    }
  }
  for (const Cost& cost : cores.rows) table.push_back(cost);
  transfers(DmaDirection::put);
  add_most_calls(table, counts);
  return table;
}

RegisterBroadcastCost column_broadcast_cost(std::int64_t bytes, const Target& target) {
  const ColumnBroadcast& rates = target.cores.column_broadcast.value();
  return {Space::column, 1, ceil_div(bytes, bytes_of_register), rates.start_cycles, rates.vector_cycles};
}

CostFormula meeting_cost(const LoopNest& nest, const TeamBarriers& barriers, StatementId id, const Target& target) {
  const auto sent = barriers.sent_at.find(id);
  if (sent == barriers.sent_at.end())
    return BarrierCost{barriers_of(nest, barriers.team_at(id), target), target.cores.barrier_cycles};
  const std::optional<Broadcast>& broadcast = sent->second.broadcast;
  if (!broadcast) return column_broadcast_cost(nest.buffers[sent->second.to.buffer].box_bytes(), target);
  RegisterBroadcastCost cost = column_broadcast_cost(broadcast_bytes(nest, *broadcast), target);
  cost.team = broadcast->to;
  cost.register_cycles += 1;  // the sender stores what it sends at another place of its own LDM
  return cost;
}

LaunchCost launch_cost(LaunchedBy launch, const Target& target) {
  return {launch, target.cores.launch_seconds, target.clock_hz, target.cores.barrier_cycles};
}

CostKind kind_of(const CostFormula& formula) {
  return std::visit(
      Overloaded{
          [](const LaunchCost&) { return CostKind::launch; },
          [](const TransferCost& cost) { return cost.direction == DmaDirection::get ? CostKind::get : CostKind::put; },
          [](const BarrierCost&) { return CostKind::barrier; },
          [](const RegisterBroadcastCost&) { return CostKind::broadcast; },
          [](const ComputeCost&) { return CostKind::compute; }, [](const FillCost&) { return CostKind::fill; }},
      formula);
}

std::int64_t cycles_of(const CostFormula& formula) {
  return std::visit(Overloaded{[](const LaunchCost& cost) {
                                 return whole_cycles(cost.by == LaunchedBy::barrier ? cost.barrier_cycles
                                                                                    : cost.seconds * cost.clock_hz);
                               },
                               [](const TransferCost& cost) {
                                 const std::int64_t all = whole_cycles(moving_seconds(cost) * cost.clock_hz) +
                                                          whole_cycles(std::round(own_cycles(cost)));
                                 return std::max<std::int64_t>(0, all - cost.filled_cycles - cost.hidden_cycles);
                               },
                               [](const BarrierCost& cost) { return whole_cycles(meeting_cycles(cost)); },
                               [](const RegisterBroadcastCost& cost) { return whole_cycles(meeting_cycles(cost)); },
                               [](const ComputeCost& cost) {
                                 return whole_cycles(static_cast<double>(cost.points_of_busiest) *
                                                     static_cast<double>(cost.operations) / cost.operations_per_cycle);
                               },
                               [](const FillCost& cost) { return cost.stores_of_busiest; }},
                    formula);
}

double meeting_cycles(const CostFormula& formula) {
  if (const auto* barriers = std::get_if<BarrierCost>(&formula))
    return static_cast<double>(barriers->barriers_of_busiest) * barriers->cycles;
  const auto* sent = std::get_if<RegisterBroadcastCost>(&formula);
  if (sent == nullptr) return 0;
  return static_cast<double>(sent->broadcasts) * sent->start_cycles +
         static_cast<double>(sent->registers) * sent->register_cycles;
}

double moving_seconds(const TransferCost& cost) {
  double seconds = cost.one_core_seconds;
  for (const MovedBlocks& blocks : cost.moved) seconds += static_cast<double>(blocks.bytes) / blocks.bytes_per_second;
  return seconds;
}

double issuing_cycles(const TransferCost& cost) {
  return static_cast<double>(cost.calls_of_busiest) * cost.issue_cycles + cost.more_calls_cycles;
}

std::int64_t bytes_of(const CostFormula& formula) {
  std::int64_t bytes = 0;
  if (const auto* transfer = std::get_if<TransferCost>(&formula)) {
    for (const MovedBlocks& blocks : transfer->moved) bytes += blocks.bytes;
  }
  return bytes;
}

std::string_view name_of(CostKind kind) {
  switch (kind) {
    case CostKind::launch: return "launch";
    case CostKind::get: return "dma get";
    case CostKind::barrier: return "barrier";
    case CostKind::broadcast: return "broadcast";
    case CostKind::compute: return "compute";
    case CostKind::fill: return "fill";
    case CostKind::put: return "dma put";
  }
  fail_check("unknown kind of cost");
}

std::string name_of(const CostFormula& formula) {
  std::string name(name_of(kind_of(formula)));
  if (const auto* computation = std::get_if<ComputeCost>(&formula)) {
    name += " " + computation->stage;
    if (computation->part == Compute::Part::finish) name += " finish";
  }
  return name;
}

std::string formula_text(const CostFormula& formula) {
  return std::visit(
      Overloaded{
          [](const LaunchCost& cost) {
            return cost.by == LaunchedBy::barrier
                       ? fmt::format("a barrier of all cores: {} cycles", cost.barrier_cycles)
                       : fmt::format("{} us * {} MHz", cost.seconds * 1e6, cost.clock_hz / 1e6);
          },
          [](const TransferCost& cost) {
            const double seconds = moving_seconds(cost);
            const std::int64_t bytes = bytes_of(cost);
            std::string text = fmt::format("{} bytes / {:.2f} GB/s + {} transfers of the busiest core * {} cycles",
                                           bytes, seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0.0,
                                           cost.transfers_of_busiest, cost.startup_cycles);
            if (cost.issue_cycles > 0)
              text += fmt::format(" + {} calls * {} cycles", cost.calls_of_busiest, cost.issue_cycles);
            if (cost.more_calls_cycles > 0)
              text += fmt::format(" + {:.0f} cycles of a core with more calls", cost.more_calls_cycles);
            if (cost.filled_cycles > 0) text += fmt::format(" - {} cycles beside other transfers", cost.filled_cycles);
            if (cost.hidden_cycles > 0)
              text += fmt::format(" - {} cycles beside computation and calls", cost.hidden_cycles);
            return text;
          },
          [](const BarrierCost& cost) {
            return fmt::format("{} barriers of the busiest core * {} cycles", cost.barriers_of_busiest, cost.cycles);
          },
          [](const RegisterBroadcastCost& cost) {
            return fmt::format("{} broadcasts {} * {} cycles + {} registers * {} cycles", cost.broadcasts,
                               cost.team == Space::row ? "along each row" : "down each column", cost.start_cycles,
                               cost.registers, cost.register_cycles);
          },
          [](const ComputeCost& cost) {
            const bool strided = cost.form != ComputeForm::scalar && !cost.vectors;
            const std::string reached =
                cost.peak > 0 ? fmt::format(", {:.0f} % of its peak", 100 * cost.operations_per_cycle / cost.peak) : "";
            return fmt::format("{} points of the busiest core * {} operations / {} per cycle ({}{}{})",
                               cost.points_of_busiest, cost.operations,
                               cost.peak > 0 ? fmt::format("{:.3g}", cost.operations_per_cycle)
                                             : fmt::format("{}", cost.operations_per_cycle),
                               form_name(cost.form), strided ? ", strided: scalar rate" : "", reached);
          },
          [](const FillCost& cost) {
            return fmt::format("{} elements of the busiest core in {} stores", cost.elements_of_busiest,
                               cost.stores_of_busiest);
          }},
      formula);
}

std::string source_of(const CostFormula& formula) {
  return std::visit(
      Overloaded{
          [](const LaunchCost& cost) -> std::string {
            return cost.by == LaunchedBy::barrier ? "target: cores.barrier_cycles" : "target: cores.launch_seconds";
          },
          [](const TransferCost& cost) -> std::string {
            return fmt::format("target: dma.bandwidth by {}, dma.startup_cycles{}{}",
                               cost.by_lines ? "lines" : "block size",
                               cost.issue_cycles > 0 ? ", dma.issue_cycles" : "",
                               cost.one_core_seconds > 0 ? ", dma.core_bytes_per_second" : "");
          },
          [](const BarrierCost&) -> std::string { return "target: cores.barrier_cycles"; },
          [](const RegisterBroadcastCost&) -> std::string { return "target: cores.column_broadcast"; },
          [](const ComputeCost& cost) -> std::string {
            if (cost.peak > 0) return "target: cores.pipelines, instructions of the emitted loop";
            return cost.vectors ? "target: cores.vector_flops_per_cycle" : "target: cores.scalar_flops_per_cycle";
          },
          [](const FillCost&) -> std::string { return "emitted code: stores of vectors and elements, one a cycle"; }},
      formula);
}

}  // namespace stowage
