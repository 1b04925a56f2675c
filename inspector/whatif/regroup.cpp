// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/regroup.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "fusion/strategies/fixed_groups.h"
#include "fusion/strategies/lattice.h"
#include "fusion/strategies/strategy.h"
#include "inspector/state/background.h"
#include "inspector/state/planned_group.h"
#include "inspector/whatif/evaluate.h"
#include "lowering/program/launches.h"
#include "lowering/program/planners.h"

namespace stowage::inspector {

namespace {

std::vector<OpId> sorted(std::vector<OpId> operators) {
  std::sort(operators.begin(), operators.end());
  return operators;
}

std::map<std::string, OpId> operators_by_name(const Graph& graph) {
  std::map<std::string, OpId> known;
  for (std::size_t op = 0; op < graph.operators().size(); ++op) known.emplace(graph.operators()[op].name, OpId(op));
  return known;
}

Grouping fixed_groups(const LoadedPlan& plan, const PlanEdit& edit) {
  if (edit.groups.empty()) return {};
  const std::map<std::string, OpId> known = operators_by_name(plan.graph());
  Grouping groups;
  for (const std::vector<std::string>& names : edit.groups) {
    groups.emplace_back();
    for (const std::string& name : names) groups.back().push_back(known.at(name));
  }
  return groups;
}

/// All groups of the edited plan.
Grouping edited_groups(const LoadedPlan& plan, const PlanEdit& edit) {
  Grouping groups = fixed_groups(plan, edit);
  std::set<OpId> fixed;
  for (const std::vector<OpId>& group : groups) fixed.insert(group.begin(), group.end());
  for (const StepFacts& step : plan.steps) {
    const std::vector<OpId>& operators = step.step->group.operators;
    if (!operators.empty() && !fixed.contains(operators.front())) groups.push_back(operators);
  }
  return groups;
}

/// The candidates of these groups; one that the set has not counts as its operators alone.
std::vector<std::size_t> candidates_of(const CandidateSet& set, const Grouping& groups) {
  std::vector<std::size_t> found;
  for (const std::vector<OpId>& group : groups) {
    const FixedCandidates candidate = find_fixed(set, {group});
    if (!candidate.candidates.empty()) {
      found.push_back(candidate.candidates.front());
    } else {
      for (const OpId op : group) found.push_back(set.single[op.index()]);
    }
  }
  return found;
}

/// What groups take on the edited target, with the schedules that are fixed of them. Ways have many groups in common.
class EditedCycles {
 public:
  EditedCycles(const GroupChoices& choices, const PlanEdit& edit) : choices_(choices), edit_(edit) {
    Diagnostics ignored;
    auto target = edited_target(choices.plan->compilation, edit, ignored);
    check(static_cast<bool>(target), "groups were priced on a target that cannot be");
    target_ = *std::move(target);
    const IdVector<StepId, ProgramStep>& steps = choices.plan->program().steps;
    if (const auto first = first_kernel(steps)) {
      first_ = steps[*first].group.operators.front();
      const Planner* const planner = find_planner(choices.plan->program().planner);
      check(planner != nullptr, "kernels with a spawn are Athread's");
      first_launch_ = first_launch_cycles(*planner, target_);
    }
  }

  void count_before(Regrouping& way) {
    way.cycles_before = 0;
    for (const std::vector<OpId>& group : way.before) {
      const auto [known, is_new] = known_.try_emplace(group);
      if (is_new) known->second = of(group, edit_.schedules);
      way.counted = way.counted && known->second.has_value();
      way.cycles_before += known->second.value_or(price(group));
    }
  }

  /// What is made new has no edits; a group that the plan has too is as the plan has it.
  void count_after(Regrouping& way) const {
    way.cycles_after = 0;
    for (const std::vector<OpId>& group : way.after) {
      const auto cycles = of(group, {});
      way.counted = way.counted && cycles.has_value();
      way.cycles_after += cycles.value_or(price(group));
    }
  }

 private:
  [[nodiscard]] std::int64_t price(const std::vector<OpId>& group) const {
    return total_cycles(choices_.set, candidates_of(choices_.set, {group}));
  }

  [[nodiscard]] std::optional<std::int64_t> of(const std::vector<OpId>& group,
                                               const std::map<std::string, Schedule>& schedules) const {
    const CandidateGroup* candidate = choices_.find(group);
    if (candidate == nullptr || candidate->group.is_view) return price(group);
    const LoadedPlan& plan = *choices_.plan;
    const auto edited = schedules.find(candidate->group.name);
    const Schedule fixed = edited != schedules.end() ? edited->second : start_schedule(plan, candidate->group);
    const bool is_fixed = fixed != Schedule{};
    const bool is_first = std::find(group.begin(), group.end(), first_) != group.end();
    if (!is_fixed && candidate->allowed()) return candidate->cycles + (is_first ? first_launch_ : 0);
    auto planned = plan_group_of(plan, candidate->group, is_fixed ? &fixed : nullptr, target_);
    if (std::holds_alternative<Decision>(planned)) return std::nullopt;
    const ProgramStep step{candidate->group, std::get<StepWork>(std::move(planned))};
    if (is_first && step.plan() != nullptr) return launched_by(*step.plan(), LaunchedBy::spawn, target_).time.cycles;
    return step.step_plan()->cycles();
  }

  const GroupChoices& choices_;
  const PlanEdit& edit_;
  Target target_;
  std::optional<OpId> first_;      ///< an operator of the first kernel that Athread launches
  std::int64_t first_launch_ = 0;  ///< what that takes besides
  std::map<std::vector<OpId>, std::optional<std::int64_t>> known_;
};

/// Back to the groups of the plan.
Regrouping way_back(const LoadedPlan& plan, const Regrouped& around, EditedCycles& cycles) {
  Regrouping way;
  way.as_planned = true;
  way.before = around.groups;
  cycles.count_before(way);
  for (const StepId step : around.steps) {
    way.after.push_back(plan.steps[step].step->group.operators);
  }
  cycles.count_after(way);
  return way;
}

/// A candidate in place of the groups that hold its operators; the rest of theirs as well as possible.
Regrouping regrouping_of(const CandidateSet& set, std::size_t candidate, const Grouping& now, EditedCycles& cycles) {
  const std::vector<OpId>& members = set.of(candidate).group.operators;
  Regrouping way;
  way.templates = fmt::format("{}", fmt::join(set.of(candidate).templates, ", "));
  LatticeProblem rest;
  for (const std::vector<OpId>& group : now) {
    if (!share_operators(group, members)) continue;
    way.before.push_back(group);
    std::copy_if(group.begin(), group.end(), std::back_inserter(rest.operators),
                 [&](OpId op) { return std::find(members.begin(), members.end(), op) == members.end(); });
  }
  cycles.count_before(way);
  way.after = {members};
  if (!rest.operators.empty()) {
    std::sort(rest.operators.begin(), rest.operators.end(),
              [&](OpId a, OpId b) { return set.facts.of(a).position < set.facts.of(b).position; });
    rest.candidates = within(set, rest.operators, [](std::size_t) { return true; });
    rest.beam = 500;
    for (const std::size_t part : best_partition(set, rest).choice) way.after.push_back(set.of(part).group.operators);
  }
  cycles.count_after(way);
  return way;
}

/// Groups of several results may wait for each other in a circle; others never do.
bool closes_circle(const CandidateSet& set, const Grouping& now, const Regrouping& way) {
  std::vector<std::size_t> choice = candidates_of(set, way.after);
  if (std::none_of(choice.begin(), choice.end(),
                   [&](std::size_t c) { return has_several_results(set.facts.graph, set.of(c).group); })) {
    return false;
  }
  for (const std::vector<OpId>& group : now) {
    if (std::find(way.before.begin(), way.before.end(), group) != way.before.end()) continue;
    for (const std::size_t c : candidates_of(set, {group})) choice.push_back(c);
  }
  return !is_executable(set, choice);
}

}  // namespace

const CandidateGroup* GroupChoices::find(const std::vector<OpId>& operators) const {
  const auto found = std::find_if(set.candidates.begin(), set.candidates.end(), [&](const CandidateGroup& candidate) {
    return candidate.group.operators == operators;
  });
  return found != set.candidates.end() ? &*found : nullptr;
}

namespace {

GroupChoicesPtr priced(const PlanPtr& plan, const PlanEdit& edit, const std::string& cache,
                       const std::stop_token& stop) {
  off_window_thread("groups were priced");
  Diagnostics diagnostics;
  const auto target = target_to_plan(*plan, edit, diagnostics);
  const auto templates = fusion_templates(plan->compilation.templates, diagnostics);
  check(static_cast<bool>(templates), "a plan's templates were read when it was opened");
  if (!target) return nullptr;
  const auto cost = backend_of(plan->compilation).group_cost(plan->program().planner, *target, {.cache = cache});
  check(cost != nullptr, "a plan's planner was found when it was opened");
  CandidateSet set = find_candidate_groups(plan->graph(), *templates, cost.get(), {}, stop);
  if (stop.stop_requested()) return nullptr;
  return std::make_shared<const GroupChoices>(GroupChoices{plan, edit.target, std::move(set)});
}

}  // namespace

GroupChoicesPtr price_groups(const PlanPtr& plan, const PlanEdit& edit, const std::stop_token& stop) {
  // Only the plan's own target is worth a place on disk: a slider passes over hundreds.
  return priced(plan, edit, edit.target.empty() ? default_cost_cache() : std::string(), stop);
}

Regrouped regrouped_at(const LoadedPlan& plan, const PlanEdit& edit, OpId op) {
  const StepId step = plan.step_of_operator.at(op);
  const auto operators_of = [&](StepId index) -> const std::vector<OpId>& {
    return plan.steps[index].step->group.operators;
  };
  std::set<StepId> steps = {step};
  std::set<std::size_t> groups;
  const Grouping fixed = fixed_groups(plan, edit);
  for (std::size_t before = 0; before != steps.size() + groups.size();) {
    before = steps.size() + groups.size();
    for (std::size_t g = 0; g < fixed.size(); ++g) {
      const bool touched = std::any_of(steps.begin(), steps.end(),
                                       [&](StepId index) { return share_operators(operators_of(index), fixed[g]); });
      if (!touched) continue;
      groups.insert(g);
      for (const OpId member : fixed[g]) steps.insert(plan.step_of_operator[member]);
    }
  }
  Regrouped result{{steps.begin(), steps.end()}, {}, !groups.empty()};
  if (groups.empty()) result.groups = {operators_of(step)};
  for (const std::size_t g : groups) result.groups.push_back(fixed[g]);
  return result;
}

std::vector<Regrouping> regroupings(const GroupChoices& choices, const PlanEdit& edit, OpId op) {
  off_window_thread("groups were planned");
  const CandidateSet& set = choices.set;
  const Grouping now = edited_groups(*choices.plan, edit);
  const auto own = std::find_if(now.begin(), now.end(), [&](const std::vector<OpId>& group) {
    return std::find(group.begin(), group.end(), op) != group.end();
  });
  check(own != now.end(), "every operator is in a group");
  std::vector<Regrouping> ways;
  std::set<std::set<std::vector<OpId>>> known;
  const auto is_new = [&](const Regrouping& way) {
    std::set<std::vector<OpId>> after;
    for (const std::vector<OpId>& group : way.after) after.insert(sorted(group));
    return known.insert(std::move(after)).second;
  };
  EditedCycles cycles(choices, edit);
  if (const Regrouped around = regrouped_at(*choices.plan, edit, op); around.otherwise) {
    ways.push_back(way_back(*choices.plan, around, cycles));
    is_new(ways.back());
  }
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    const CandidateGroup& candidate = set.of(c);
    const std::vector<OpId>& members = candidate.group.operators;
    if (!share_operators(members, *own) || sorted(members) == sorted(*own)) continue;
    if (!candidate.allowed()) {
      Regrouping way;
      way.after = {members};
      way.templates = fmt::format("{}", fmt::join(candidate.templates, ", "));
      way.refusals = candidate.refusals;
      ways.push_back(std::move(way));
      continue;
    }
    Regrouping way = regrouping_of(set, c, now, cycles);
    if (!is_new(way)) continue;
    if (closes_circle(set, now, way)) {
      way.refusals.push_back(Decision::refuse("circle", "it and other groups would wait for each other"));
    }
    ways.push_back(std::move(way));
  }
  std::stable_sort(ways.begin(), ways.end(), [](const Regrouping& a, const Regrouping& b) {
    if (a.as_planned != b.as_planned) return a.as_planned;
    if (a.refusals.empty() != b.refusals.empty()) return a.refusals.empty();
    return a.change() < b.change();
  });
  return ways;
}

PlanEdit with_groups(const LoadedPlan& plan, PlanEdit edit, const Grouping& groups) {
  const Graph& graph = plan.graph();
  std::set<OpId> touched;
  for (const std::vector<OpId>& group : groups) touched.insert(group.begin(), group.end());
  for (const std::vector<OpId>& group : edited_groups(plan, edit)) {
    if (!touched.contains(group.front())) continue;
    for (const OpId op : group) edit.schedules.erase(graph.op(op).name);  // a group has the name of its anchor
  }
  Grouping kept = fixed_groups(plan, edit);
  std::erase_if(kept, [&](const std::vector<OpId>& group) { return touched.contains(group.front()); });
  kept.insert(kept.end(), groups.begin(), groups.end());
  // Groups that are again those of the plan are not fixed any more, where all around them are.
  edit.groups.clear();
  const auto is_step = [&](const std::vector<OpId>& group) {
    const StepId step = plan.step_of_operator[group.front()];
    return sorted(plan.steps[step].step->group.operators) == sorted(group);
  };
  std::erase_if(kept, is_step);
  std::sort(kept.begin(), kept.end());
  for (const std::vector<OpId>& group : kept) {
    edit.groups.emplace_back();
    for (const OpId op : group) edit.groups.back().push_back(graph.op(op).name);
  }
  return edit;
}

std::optional<PlanEdit> complete_edit(const PlanPtr& plan, const PlanEdit& edit, const std::stop_token& stop) {
  // On disk whatever the target: planning the network prices the same groups next.
  const GroupChoicesPtr choices = priced(plan, edit, default_cost_cache(), stop);
  if (stop.stop_requested()) return std::nullopt;
  PlanEdit complete = edit;
  const Grouping wanted = edited_groups(*plan, edit);
  if (choices) {
    const CandidateSet& set = choices->set;
    const Strategy* strategy = find_strategy(plan->program().fusion);
    check(strategy != nullptr, "a plan names a strategy that there is not");
    const auto missing = [&](const Choice& choice) {
      std::set<std::vector<OpId>> chosen;
      for (const std::size_t c : choice.candidates) chosen.insert(sorted(set.of(c).group.operators));
      Grouping groups;
      for (const std::vector<OpId>& group : wanted) {
        if (!chosen.contains(sorted(group))) groups.push_back(group);
      }
      return groups;
    };
    Grouping fixed = missing(strategy->choose(set, {}, stop));
    for (const std::vector<OpId>& group : fixed_groups(*plan, edit)) {
      if (std::find(fixed.begin(), fixed.end(), group) == fixed.end()) fixed.push_back(group);
    }
    const FixedCandidates person = find_fixed(set, fixed);
    if (person.refused.empty() && !fixed.empty()) {
      const Choice again =
          with_fixed(set, strategy->choose(with_fixed(set, person.candidates), {}, stop), person.candidates);
      if (!missing(again).empty()) fixed = wanted;
    }
    if (stop.stop_requested()) return std::nullopt;
    std::sort(fixed.begin(), fixed.end());
    complete.groups.clear();
    for (const std::vector<OpId>& group : fixed) {
      complete.groups.emplace_back();
      for (const OpId op : group) complete.groups.back().push_back(plan->graph().op(op).name);
    }
  }
  for (const StepFacts& step : plan->steps) {
    if (stop.stop_requested()) return std::nullopt;
    const FusedOperator& group = step.step->group;
    if (step.plan == nullptr || edit.schedules.contains(group.name)) continue;
    if (std::find(wanted.begin(), wanted.end(), group.operators) == wanted.end()) continue;
    if (Schedule start = start_schedule(*plan, group); start != Schedule{}) {
      complete.schedules.emplace(group.name, std::move(start));
    }
  }
  return complete;
}

}  // namespace stowage::inspector
