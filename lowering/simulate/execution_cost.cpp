// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/execution_cost.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "lowering/time/counts.h"
#include "lowering/time/cycle_limit.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

std::int64_t points_in(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1},
                         [](std::int64_t n, std::int64_t extent) { return n * std::max<std::int64_t>(0, extent); });
}

/// Rounded up, and no more than what ends a simulation anyway.
std::int64_t parts_of(double cycles) {
  const double limit = static_cast<double>(cycle_limit);
  return std::llround(std::ceil(std::min(cycles, limit) * static_cast<double>(parts_of_cycle)));
}

}  // namespace

ExecutionCosts::ExecutionCosts(const LoopNest& nest, const Target& target) : nest_(nest), target_(target) {
  const NestCounts counts = predict_counts(nest);
  for (Cost& cost : cost_table(nest, counts, target)) {
    if (!cost.statement) {
      launch_cycles_ = cycles_of(cost.formula);
      continue;
    }
    const Stmt& statement = *find_statement(nest, *cost.statement);
    if (const auto* dma = std::get_if<Dma>(&statement.node)) shapes_.emplace(statement.id, shape_of(nest, *dma));
    if (const auto* computation = std::get_if<ComputeCost>(&cost.formula);
        computation != nullptr && computation->peak > 0) {
      const auto& compute = std::get<Compute>(statement.node);
      loops_.emplace(statement.id,
                     InnerLoop(nest, compute, target, known_rows(nest, compute, counts.compute.at(statement.id))));
    }
    formulas_.emplace(*cost.statement, std::move(cost.formula));
  }
}

TransferExecution ExecutionCosts::transfer(const Stmt& statement, std::span<const std::int64_t> extents) const {
  const auto& dma = std::get<Dma>(statement.node);
  const DmaShape& shape = shapes_.at(statement.id);
  const DmaCount count = count_operations(shape, extents);
  if (count.operations == 0) return {};
  const int element_bytes = byte_size(nest_.buffers[dma.buffer].type);
  // As predict_counts rounds: contiguous calls move whole units.
  const bool strided = calls_of(shape, extents).is_strided();
  const std::int64_t of_call = count.elements / count.operations * element_bytes;
  const std::int64_t moved = strided ? of_call : (of_call + dma.unit_bytes - 1) / dma.unit_bytes * dma.unit_bytes;
  TransferExecution execution;
  execution.operations = count.operations;
  execution.bytes = count.operations * moved;
  const auto& cost = std::get<TransferCost>(formulas_.at(statement.id));
  execution.startup_cycles = std::llround(cost.startup_cycles);
  execution.issue_cycles = std::llround(cost.issue_cycles * static_cast<double>(count.operations));
  const std::int64_t block = count.block_elements * element_bytes;
  const auto rate = std::find_if(cost.moved.begin(), cost.moved.end(),
                                 [&](const MovedBlocks& moving) { return moving.block_bytes == block; });
  check(rate != cost.moved.end(), "blocks that no count predicts");
  const auto cycles_at = [&](double bytes_per_second) {
    return static_cast<double>(execution.bytes) / bytes_per_second * target_.clock_hz;
  };
  execution.engine_parts = parts_of(cycles_at(rate->bytes_per_second));
  const double of_core = target_.dma.core_bytes_per_second;
  if (of_core > 0) execution.least_cycles = parts_of(cycles_at(of_core)) / parts_of_cycle;
  return execution;
}

std::int64_t ExecutionCosts::compute_cycles(const Stmt& statement, std::span<const std::int64_t> extents) const {
  auto cost = std::get<ComputeCost>(formulas_.at(statement.id));
  cost.points_of_busiest = points_in(extents);
  if (cost.points_of_busiest == 0) return 0;
  const auto loop = loops_.find(statement.id);
  if (loop == loops_.end()) return cycles_of(cost);
  // No loop is faster than the peak.
  cost.operations_per_cycle = cost.peak;
  const double cycles = std::min(loop->second.cycles(extents), static_cast<double>(cycle_limit));
  return std::max(cycles_of(cost), std::int64_t{std::llround(std::ceil(cycles))});
}

std::int64_t ExecutionCosts::fill_cycles(const Stmt& statement, std::span<const std::int64_t> kept) const {
  const auto& fill = std::get<Fill>(statement.node);
  const std::int64_t all = element_count(nest_.buffers[fill.buffer].extents);
  const std::int64_t set = std::max<std::int64_t>(0, all - (fill.around ? points_in(kept) : 0));
  return cycles_of(FillCost{set, fill_stores(nest_, fill, set, target_)});
}

}  // namespace stowage
