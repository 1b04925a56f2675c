// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/strategy_comparison.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "driver/report/fusion_tables.h"
#include "fusion/groups/group.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/fuse_candidates.h"
#include "inspector/state/background.h"
#include "inspector/tables/placed.h"
#include "lowering/program/plan_choices.h"

namespace stowage::inspector {

namespace {

using StepCycles = IdVector<StepId, std::int64_t>;

/// Groups of a plan and of another partition of its operators that are not in both, joined where they share operators.
/// The cycles are those of the steps, of which there is one for each group; none where there is no plan.
std::vector<GroupingDifference> differences_of(const std::vector<FusedOperator>& here, const StepCycles& cycles_here,
                                               const std::vector<FusedOperator>& there,
                                               const StepCycles& cycles_there) {
  std::map<OpId, std::size_t> there_of;
  std::map<OpId, std::size_t> here_of;
  for (std::size_t g = 0; g < there.size(); ++g) {
    for (const OpId op : there[g].operators) there_of[op] = g;
  }
  for (std::size_t g = 0; g < here.size(); ++g) {
    for (const OpId op : here[g].operators) here_of[op] = g;
  }
  std::vector<bool> seen(here.size(), false);
  std::vector<GroupingDifference> differences;
  for (std::size_t start = 0; start < here.size(); ++start) {
    if (seen[start]) continue;
    std::set<std::size_t> ours = {start};
    std::set<std::size_t> theirs;
    for (std::size_t before = 0; before != ours.size() + theirs.size();) {
      before = ours.size() + theirs.size();
      for (const std::size_t g : ours) {
        for (const OpId op : here[g].operators) theirs.insert(there_of.at(op));
      }
      for (const std::size_t g : theirs) {
        for (const OpId op : there[g].operators) ours.insert(here_of.at(op));
      }
    }
    for (const std::size_t g : ours) seen[g] = true;
    if (ours.size() == 1 && theirs.size() == 1) continue;
    GroupingDifference difference;
    for (const std::size_t g : ours) {
      difference.here.push_back(here[g].operators);
      difference.cycles_here += cycles_here[StepId(g)];
    }
    for (const std::size_t g : theirs) {
      difference.there.push_back(there[g].operators);
      if (!cycles_there.empty()) difference.cycles_there += cycles_there[StepId(g)];
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace

std::vector<StrategyResult> compare_strategies(const LoadedPlan& plan, std::stop_token stop,
                                               const ProgressSink& progress) {
  off_window_thread("strategies were compared");
  const Program& program = plan.program();
  const Backend& backend = backend_of(plan.compilation);
  Diagnostics ignored;
  const auto templates = fusion_templates(plan.compilation.templates, ignored);
  const Evaluator evaluator = evaluator_of(plan);
  PlanChoices choices;
  const CostOptions costs{0, default_cost_cache(), &choices, evaluator};
  const auto cost = backend.group_cost(program.planner, program.target, costs);
  check(templates && cost != nullptr, "a plan's templates and planner were found when it was opened");
  if (progress) progress("candidates", 0, 0);
  const CandidateSet set = find_candidate_groups(plan.graph(), *templates, cost.get(), {}, stop);
  auto own = backend.evaluate(program, evaluator, 0, {ignored, stop});
  if (!own) own = backend.evaluate(program, {}, 0, {ignored, {}});  // what that cannot say is told in closed form
  const std::vector<std::string> names = strategy_names();
  std::vector<StrategyResult> results;
  for (const std::string& name : names) {
    if (stop.stop_requested()) return {};
    if (progress) progress(name, results.size(), names.size());
    const Fusion fusion = fuse_candidates(set, *find_strategy(name), {}, stop);
    StrategyResult result;
    result.strategy = name;
    result.proved = is_proved(fusion.record);
    result.groups = static_cast<std::int64_t>(fusion.fused.groups.size());
    Diagnostics diagnostics;
    const WorkContext work{diagnostics, stop};
    const auto planned = backend.plan(fusion.fused, {}, program.planner, program.target, costs, {}, work);
    const auto cycles = planned ? backend.evaluate(*planned, evaluator, 0, work) : Result<StepCycles>(Failed{});
    if (stop.stop_requested()) return {};
    if (cycles) {
      const ProgramTotals totals = totals_of(*planned);
      result.kernels = totals.kernels;
      result.bytes = totals.dma.bytes;
      result.cycles = std::accumulate(cycles->begin(), cycles->end(), std::int64_t{0});
    } else {
      result.refusal = first_error(diagnostics);
    }
    result.differences =
        differences_of(program.fused.groups, *own, fusion.fused.groups, cycles ? *cycles : StepCycles{});
    results.push_back(std::move(result));
  }
  // Who finds a partition as good as the proved best has found a best one.
  const StrategyResult& exact = results.back();
  const std::int64_t best = exact.cycles;
  const bool proved = exact.proved && exact.refusal.empty();
  for (StrategyResult& result : results) result.proved = proved && result.cycles == best && result.refusal.empty();
  return results;
}

Table strategies_table(const LoadedPlan& plan, const std::vector<StrategyResult>& results) {
  std::vector<StrategyNumbers> strategies;
  for (const StrategyResult& result : results) {
    StrategyNumbers numbers{.strategy = result.strategy, .groups = result.groups};
    numbers.differs = static_cast<std::int64_t>(result.differences.size());
    if (result.refusal.empty()) {
      numbers.kernels = result.kernels;
      numbers.cycles = result.cycles;
      numbers.bytes = result.bytes;
      if (result.proved) numbers.remark = "proved best of all partitions into the candidates";
    } else {
      numbers.remark = "cannot be planned: " + result.refusal;
    }
    strategies.push_back(std::move(numbers));
  }
  return placed(stowage::strategies_table(
      strategies, fmt::format("of the whole network, by {}", text_of(plan.program().evaluated_by))));
}

Table differences_table(const LoadedPlan& plan, const std::vector<StrategyResult>& results) {
  Table table;
  table.title = "Differences";
  table.columns = {
      keyed("strategy", "strategy", ColumnKind::text, "whose groups are compared with the plan's"),
      keyed("here", "this plan", ColumnKind::text, "groups of this plan, separated by |"),
      keyed("there", "that strategy", ColumnKind::text, "groups that the strategy makes of the same operators"),
      keyed("cycles_here", "cycles of this plan", ColumnKind::cycles, "of its groups, as they are planned"),
      keyed("cycles_there", "cycles of that strategy", ColumnKind::cycles,
            "of its groups, as the planner plans them by itself"),
      keyed("change", "change", ColumnKind::cycles,
            "the strategy's cycles minus this plan's: negative where the strategy is faster"),
  };
  for (const StrategyResult& result : results) {
    for (const GroupingDifference& difference : result.differences) {
      const OpId first = difference.here.front().front();
      Row row{{result.strategy, groups_text(plan.graph(), difference.here), groups_text(plan.graph(), difference.there),
               difference.cycles_here, Cell(), Cell()},
              op_subject(plan.step_of_operator[first], first)};
      if (result.refusal.empty()) {
        row.cells[4] = difference.cycles_there;
        row.cells[5] = difference.cycles_there - difference.cycles_here;
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace stowage::inspector
