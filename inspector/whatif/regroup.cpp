// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/regroup.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fusion/fixed_groups.h"
#include "fusion/group.h"
#include "fusion/lattice.h"
#include "fusion/strategy.h"
#include "inspector/state/background.h"
#include "inspector/whatif/evaluate.h"
#include "lowering/planned_cost.h"

namespace stowage::inspector {

namespace {

bool meet(const std::vector<OpId>& a, const std::vector<OpId>& b) {
  return std::any_of(a.begin(), a.end(), [&](OpId op) { return std::find(b.begin(), b.end(), op) != b.end(); });
}

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

/// A candidate in place of the groups that hold its operators; the rest of theirs as well as possible.
Regrouping regrouping_of(const CandidateSet& set, std::size_t candidate, const Grouping& now) {
  const std::vector<OpId>& members = set.of(candidate).group.operators;
  Regrouping way;
  way.templates = fmt::format("{}", fmt::join(set.of(candidate).templates, ", "));
  LatticeProblem rest;
  for (const std::vector<OpId>& group : now) {
    if (!meet(group, members)) continue;
    way.before.push_back(group);
    std::copy_if(group.begin(), group.end(), std::back_inserter(rest.operators),
                 [&](OpId op) { return std::find(members.begin(), members.end(), op) == members.end(); });
  }
  way.cycles_before = total_cycles(set, candidates_of(set, way.before));
  way.after = {members};
  way.cycles_after = set.cycles(candidate);
  if (rest.operators.empty()) return way;
  std::sort(rest.operators.begin(), rest.operators.end(),
            [&](OpId a, OpId b) { return set.facts.of(a).position < set.facts.of(b).position; });
  rest.candidates = within(set, rest.operators, [](std::size_t) { return true; });
  rest.beam = 500;
  const LatticeResult best = best_partition(set, rest);
  way.cycles_after += best.cost.cycles;
  for (const std::size_t part : best.choice) way.after.push_back(set.of(part).group.operators);
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

std::string groups_text(const Graph& graph, const Grouping& groups) {
  std::vector<std::string> texts;
  for (const std::vector<OpId>& group : groups) texts.push_back(names_of(graph, group));
  return fmt::format("{}", fmt::join(texts, " | "));
}

const CandidateGroup* GroupChoices::find(const std::vector<OpId>& operators) const {
  const auto found = std::find_if(set.candidates.begin(), set.candidates.end(), [&](const CandidateGroup& candidate) {
    return candidate.group.operators == operators;
  });
  return found != set.candidates.end() ? &*found : nullptr;
}

GroupChoicesPtr price_groups(const PlanPtr& plan, const PlanEdit& edit, const std::stop_token& stop) {
  off_window_thread("groups were priced");
  Diagnostics diagnostics;
  const auto target = edited_target(plan->program().target, edit, diagnostics);
  const auto templates = fusion_templates(plan->compilation.templates, diagnostics);
  const Planner* planner = find_planner(plan->program().planner);
  check(templates && planner != nullptr, "a plan's templates and planner were found when it was opened");
  if (!target) return nullptr;
  // Only the plan's own target is worth a place on disk: a slider passes over hundreds.
  const PlannedGroupCost cost(*planner, *target, {.cache = edit.target.empty() ? default_cost_cache() : std::string()});
  CandidateSet set = find_candidate_groups(plan->graph(), *templates, &cost, {}, stop);
  if (stop.stop_requested()) return nullptr;
  return std::make_shared<const GroupChoices>(GroupChoices{plan, edit.target, std::move(set)});
}

Regrouped regrouped_at(const LoadedPlan& plan, const PlanEdit& edit, OpId op) {
  const int step = plan.step_of_operator.at(op.index());
  check(step >= 0, "every operator is in a step");
  const auto operators_of = [&](int index) -> const std::vector<OpId>& {
    return plan.steps[static_cast<std::size_t>(index)].step->group.operators;
  };
  std::set<int> steps = {step};
  std::set<std::size_t> groups;
  const Grouping fixed = fixed_groups(plan, edit);
  for (std::size_t before = 0; before != steps.size() + groups.size();) {
    before = steps.size() + groups.size();
    for (std::size_t g = 0; g < fixed.size(); ++g) {
      const bool touched =
          std::any_of(steps.begin(), steps.end(), [&](int index) { return meet(operators_of(index), fixed[g]); });
      if (!touched) continue;
      groups.insert(g);
      for (const OpId member : fixed[g]) steps.insert(plan.step_of_operator[member.index()]);
    }
  }
  Regrouped result{{steps.begin(), steps.end()}, {}, !groups.empty()};
  if (groups.empty()) result.groups = {operators_of(step)};
  for (const std::size_t g : groups) result.groups.push_back(fixed[g]);
  return result;
}

std::vector<Regrouping> regroupings(const GroupChoices& choices, const PlanEdit& edit, OpId op) {
  const CandidateSet& set = choices.set;
  const Grouping now = edited_groups(*choices.plan, edit);
  const auto own = std::find_if(now.begin(), now.end(), [&](const std::vector<OpId>& group) {
    return std::find(group.begin(), group.end(), op) != group.end();
  });
  check(own != now.end(), "every operator is in a group");
  std::vector<Regrouping> ways;
  std::set<std::set<std::vector<OpId>>> known;
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    const CandidateGroup& candidate = set.of(c);
    const std::vector<OpId>& members = candidate.group.operators;
    if (!meet(members, *own) || sorted(members) == sorted(*own)) continue;
    if (!candidate.allowed()) {
      ways.push_back(
          {{}, {members}, fmt::format("{}", fmt::join(candidate.templates, ", ")), 0, 0, candidate.refusals});
      continue;
    }
    Regrouping way = regrouping_of(set, c, now);
    std::set<std::vector<OpId>> after;
    for (const std::vector<OpId>& group : way.after) after.insert(sorted(group));
    if (!known.insert(std::move(after)).second) continue;
    if (closes_circle(set, now, way)) {
      way.refusals.push_back(Decision::refuse("circle", "it and other groups would wait for each other"));
    }
    ways.push_back(std::move(way));
  }
  std::stable_sort(ways.begin(), ways.end(), [](const Regrouping& a, const Regrouping& b) {
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
    const int step = plan.step_of_operator[group.front().index()];
    return sorted(plan.steps[static_cast<std::size_t>(step)].step->group.operators) == sorted(group);
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
  const GroupChoicesPtr choices = price_groups(plan, edit, stop);
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
