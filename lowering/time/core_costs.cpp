// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/core_costs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

#include "core/tensor.h"
#include "lowering/ir/compute_form.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/time/inner_loop.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

/// What one statement takes on each core.
struct OfCores {
  std::vector<Cost> alike;           ///< each different cost once
  std::vector<std::size_t> of_core;  ///< by core: which of them
};

/// Of the boxes that one core has.
ComputeCost compute_cost(ComputeCost cost, const BoxCounts& boxes, const InnerLoop* loop) {
  double cycles = 0;
  for (const auto& [extents, executions] : boxes) {
    cost.points_of_busiest += executions * element_count(extents);
    if (loop != nullptr) cycles += static_cast<double>(executions) * loop->cycles(extents);
  }
  if (cycles <= 0) return cost;
  const double operations = static_cast<double>(cost.points_of_busiest) * static_cast<double>(cost.operations);
  cost.peak = cost.operations_per_cycle;
  cost.operations_per_cycle = std::min(cost.peak, operations / cycles);
  return cost;
}

OfCores computation_of_cores(const LoopNest& nest, StatementId id, const ComputeTotals& totals, const Target& target) {
  const auto& compute = std::get<Compute>(find_statement(nest, id)->node);
  const Stage& stage = nest.stages.stages[compute.stage];
  ComputeCost cost;
  cost.stage = stage.name;
  cost.part = compute.part;
  cost.form = compute.form;
  const bool gathers = target.cores.pipelines && (compute.form == ComputeForm::register_block ||
                                                  lane_loop(nest, compute, target) == LaneLoop::gathered);
  cost.vectors = gathers || (compute.form != ComputeForm::scalar && is_contiguous_along_lane(nest, compute));
  cost.operations = operations_of(stage, compute.part);
  cost.operations_per_cycle = operations_per_cycle(target, result_type(stage, compute.part), cost.vectors);
  std::optional<InnerLoop> loop;
  if (target.cores.pipelines) loop.emplace(nest, compute, target, known_rows(nest, compute, totals));
  OfCores costs{{}, totals.boxes_of_core};
  for (const BoxCounts& boxes : totals.boxes)
    costs.alike.push_back({id, compute_cost(cost, boxes, loop ? &*loop : nullptr)});
  return costs;
}

OfCores fill_of_cores(const LoopNest& nest, StatementId id, const FillTotals& totals, const Target& target) {
  const auto& fill = std::get<Fill>(find_statement(nest, id)->node);
  OfCores costs;
  std::map<std::int64_t, std::size_t> known;
  for (const std::int64_t elements : totals.elements_of_core) {
    const auto [found, is_new] = known.try_emplace(elements, costs.alike.size());
    if (is_new) costs.alike.push_back({id, FillCost{elements, fill_stores(nest, fill, elements, target)}});
    costs.of_core.push_back(found->second);
  }
  return costs;
}

void add(const OfCores& statement, std::vector<std::int64_t>& cycles) {
  std::vector<std::int64_t> each;
  for (const Cost& cost : statement.alike) each.push_back(cycles_of(cost.formula));
  cycles.resize(statement.of_core.size(), 0);
  for (std::size_t core = 0; core < cycles.size(); ++core) cycles[core] += each[statement.of_core[core]];
}

}  // namespace

CoreCosts core_costs(const LoopNest& given, const ComputeCounts& computations, const FillCounts& fills,
                     const Target& target) {
  const ComputedBoxes computed(given);
  const LoopNest& nest = computed.nest();
  std::vector<OfCores> statements;
  CoreCosts costs;
  for (const auto& [id, totals] : computations) {
    statements.push_back(computation_of_cores(nest, id, totals, target));
    add(statements.back(), costs.computing);
  }
  const std::vector<std::int64_t> without_fills = costs.computing;
  for (const auto& [id, totals] : fills) {
    if (totals.executions == 0 && std::get<Fill>(find_statement(nest, id)->node).in_registers) continue;
    statements.push_back(fill_of_cores(nest, id, totals, target));
    add(statements.back(), costs.computing);
  }
  if (statements.empty()) return costs;
  const auto longest = std::max_element(costs.computing.begin(), costs.computing.end());
  const auto busiest = static_cast<std::size_t>(std::distance(costs.computing.begin(), longest));
  for (const OfCores& statement : statements) costs.rows.push_back(statement.alike[statement.of_core[busiest]]);
  for (std::size_t core = 0; core < without_fills.size(); ++core) {
    if (without_fills[core] == 0) costs.computing[core] = 0;
  }
  return costs;
}

}  // namespace stowage
