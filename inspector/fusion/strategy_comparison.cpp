// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/strategy_comparison.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "fusion/groups/group.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"
#include "inspector/fusion/candidates.h"
#include "inspector/state/background.h"
#include "lowering/program/launches.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"

namespace stowage::inspector {

namespace {

struct GroupNumbers {
  bool planned = true;
  bool kernel = false;
  std::int64_t cycles = 0;
  std::int64_t bytes = 0;
  std::int64_t launch = 0;  ///< cycles more of a launch by itself
};

/// Plans groups of one graph, each set of operators once.
class GroupPlanner {
 public:
  GroupPlanner(const Graph& graph, const Planner& planner, const Target& target, const Evaluator& evaluator)
      : graph_(graph), planner_(planner), target_(target), evaluator_(evaluator) {}

  const GroupNumbers& numbers(const FusedOperator& group) {
    const auto [known, is_new] = known_.try_emplace(group.operators);
    if (is_new && !group.is_view) {
      const Planned planned = plan_group(group.name, group_stages(graph_, group), {}, planner_, target_, TraceSink());
      GroupNumbers& made = known->second;
      made.kernel = true;
      if (const auto* plan = std::get_if<Plan>(&planned)) {
        made.cycles = cycles(*plan);
        made.bytes = dma_totals(plan->counts).bytes;
        made.launch = launched_by(*plan, LaunchedBy::spawn, target_).time.cycles - plan->time.cycles;
      } else {
        made.planned = false;
      }
    }
    return known->second;
  }

  /// By what compares the plan's groups. What that cannot say is told in closed form.
  [[nodiscard]] std::int64_t cycles(const Plan& plan) const {
    const Evaluated said = evaluated_cycles(plan, target_, evaluator_);
    const auto* cycles = std::get_if<std::int64_t>(&said);
    return cycles != nullptr ? *cycles : plan.time.cycles;
  }

 private:
  const Graph& graph_;
  const Planner& planner_;
  const Target& target_;
  const Evaluator& evaluator_;
  std::map<std::vector<OpId>, GroupNumbers> known_;
};

/// Groups of a plan and of another partition of its operators that are not in both, joined where they share operators.
std::vector<GroupingDifference> differences_of(const LoadedPlan& plan, const std::vector<FusedOperator>& there,
                                               GroupPlanner& planner) {
  const std::vector<FusedOperator>& here = plan.program().fused.groups;
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
      // As it is planned, perhaps with a schedule that a person fixed.
      const StepId step = plan.step_of_operator[here[g].operators.front()];
      const Plan* const made = plan.steps[step].plan;
      if (made != nullptr) difference.cycles_here += planner.cycles(*made);
    }
    for (const std::size_t g : theirs) {
      difference.there.push_back(there[g].operators);
      difference.cycles_there += planner.numbers(there[g]).cycles;
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::string groups_text(const LoadedPlan& plan, const std::vector<std::vector<OpId>>& groups) {
  std::vector<std::string> texts;
  for (const std::vector<OpId>& group : groups) texts.push_back(names_of(plan.graph(), group));
  return fmt::format("{}", fmt::join(texts, " | "));
}

}  // namespace

std::vector<StrategyResult> compare_strategies(const LoadedPlan& plan, std::stop_token stop,
                                               const ProgressSink& progress) {
  off_window_thread("strategies were compared");
  const Program& program = plan.program();
  Diagnostics diagnostics;
  const auto templates = fusion_templates(plan.compilation.templates, diagnostics);
  const Planner* planner = find_planner(program.planner);
  check(templates && planner != nullptr, "a plan's templates and planner were found when it was opened");
  const Evaluator evaluator = evaluator_of(plan);
  const PlannedGroupCost cost(*planner, program.target, {0, default_cost_cache(), nullptr, evaluator});
  const TraceSink trace;
  if (progress) progress("candidates", 0, 0);
  const CandidateSet set = find_candidate_groups(plan.graph(), *templates, &cost, trace, stop);
  const std::vector<std::string> names = strategy_names();
  GroupPlanner groups(plan.graph(), *planner, program.target, evaluator);
  std::vector<StrategyResult> results;
  for (const std::string& name : names) {
    if (progress) progress(name, results.size(), names.size());
    const Choice choice = find_strategy(name)->choose(set, trace, stop);
    StrategyResult result;
    result.strategy = name;
    result.proved = choice.search && choice.search->complete && set.limits.empty();
    std::vector<FusedOperator> chosen;
    for (const std::size_t candidate : choice.candidates) {
      if (stop.stop_requested()) return {};
      chosen.push_back(set.of(candidate).group);
      const GroupNumbers& numbers = groups.numbers(chosen.back());
      ++result.groups;
      // The first of kernels behind barriers is launched, for all of them.
      if (numbers.kernel && result.kernels == 0) result.cycles += numbers.launch;
      result.kernels += numbers.kernel ? 1 : 0;
      result.unplanned += numbers.planned ? 0 : 1;
      result.cycles += numbers.cycles;
      result.bytes += numbers.bytes;
    }
    result.differences = differences_of(plan, chosen, groups);
    results.push_back(std::move(result));
  }
  if (stop.stop_requested()) return {};
  // Who finds a partition as good as the proved best has found a best one.
  const StrategyResult& exact = results.back();
  const std::int64_t best = exact.cycles;
  const bool proved = exact.proved;
  for (StrategyResult& result : results) result.proved = proved && result.cycles == best && result.unplanned == 0;
  return results;
}

Table strategies_table(const LoadedPlan& plan, const std::vector<StrategyResult>& results) {
  Table table;
  table.title = "Strategies";
  table.columns = {
      keyed("strategy", "strategy", ColumnKind::text, "how groups are chosen among the candidates (docs/fusion.md)"),
      keyed("groups", "groups", ColumnKind::count, "fused operators, views included"),
      keyed("kernels", "kernels", ColumnKind::count, "fused operators that are launched"),
      keyed("cycles", "cycles", ColumnKind::cycles,
            fmt::format("of the whole network, by {}", text_of(plan.program().evaluated_by))),
      keyed("over_best", "over the best", ColumnKind::share, "cycles more than the best strategy's, divided by those"),
      keyed("dma_bytes", "DMA bytes", ColumnKind::bytes, "moved between main memory and LDM, all cores"),
      keyed("differs", "differs", ColumnKind::count,
            "places where its groups are others than the plan's; listed below"),
      keyed("remark", "remark", ColumnKind::text, "what is known of the result"),
  };
  std::int64_t best = 0;
  for (const StrategyResult& result : results) {
    if (result.unplanned == 0 && (best == 0 || result.cycles < best)) best = result.cycles;
  }
  for (const StrategyResult& result : results) {
    std::string remark = result.proved ? "proved best of all partitions into the candidates" : "";
    if (result.unplanned > 0) {
      remark = fmt::format("{} cannot be planned and {} not count", counted(result.unplanned, "group"),
                           for_number(result.unplanned, "does", "do"));
    }
    table.rows.push_back({{result.strategy, result.groups, result.kernels, result.cycles,
                           best > 0 ? static_cast<double>(result.cycles - best) / static_cast<double>(best) : 0.0,
                           result.bytes, static_cast<std::int64_t>(result.differences.size()), remark},
                          {}});
  }
  return table;
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
      table.rows.push_back(
          {{result.strategy, groups_text(plan, difference.here), groups_text(plan, difference.there),
            difference.cycles_here, difference.cycles_there, difference.cycles_there - difference.cycles_here},
           op_subject(plan.step_of_operator[first], static_cast<int>(first.index()))});
    }
  }
  return table;
}

}  // namespace stowage::inspector
