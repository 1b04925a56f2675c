// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/number_text.h"
#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "fusion/groups/horizontal_fusion.h"
#include "fusion/strategies/fixed_groups.h"
#include "fusion/strategies/fuse_candidates.h"
#include "fusion/strategies/lattice.h"
#include "fusion/strategies/strategies.h"

namespace stowage {
namespace {

constexpr std::size_t max_losses = 20'000;  ///< of larger graphs nobody asks for every candidate
constexpr std::size_t loss_beam = 500;

/// What it would change to put an outbid candidate in the place of the groups that hold its operators.
std::optional<std::int64_t> loss_of(const CandidateSet& set, std::size_t candidate,
                                    const std::vector<std::size_t>& holders) {
  LatticeProblem problem;
  std::int64_t now = 0;
  for (const std::size_t holder : holders) {
    const std::vector<OpId>& held = set.of(holder).group.operators;
    problem.operators.insert(problem.operators.end(), held.begin(), held.end());
    now += set.cycles(holder);
  }
  std::sort(problem.operators.begin(), problem.operators.end(),
            [&](OpId a, OpId b) { return set.facts.of(a).position < set.facts.of(b).position; });
  const std::vector<OpId>& members = set.of(candidate).group.operators;
  problem.candidates = within(set, problem.operators, [&](std::size_t c) {
    if (c == candidate) return true;
    const std::vector<OpId>& others = set.of(c).group.operators;
    return std::none_of(others.begin(), others.end(),
                        [&](OpId op) { return std::find(members.begin(), members.end(), op) != members.end(); });
  });
  problem.beam = loss_beam;
  const LatticeResult best = best_partition(set, problem);
  if (!best.found || !best.complete) return std::nullopt;
  return best.cost.cycles - now;
}

FusionRecord record_of(const CandidateSet& set, const Choice& choice, std::string_view strategy) {
  FusionRecord record;
  record.strategy = strategy;
  record.costed = set.costed;
  record.limits = set.limits;
  std::vector<std::size_t> owner(set.single.size());
  for (const std::size_t c : choice.candidates) {
    for (const OpId op : set.of(c).group.operators) owner[op.index()] = c;
  }
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    const CandidateGroup& candidate = set.of(c);
    CandidateRecord row;
    row.operators = candidate.group.operators;
    row.templates = candidate.templates;
    row.refusals = candidate.refusals;
    row.cycles = candidate.cycles;
    row.cut_short = candidate.cut_short;
    std::set<std::size_t> holders;
    for (const OpId op : row.operators) holders.insert(owner[op.index()]);
    if (holders.contains(c)) {
      row.fate = CandidateFate::chosen;
    } else if (!candidate.allowed()) {
      row.fate = CandidateFate::refused;
    } else {
      row.fate = CandidateFate::outbid;
      row.outbid_by.assign(holders.begin(), holders.end());
      if (set.candidates.size() <= max_losses) row.loss = loss_of(set, c, row.outbid_by);
    }
    record.candidates.push_back(std::move(row));
  }
  record.totals.push_back({std::string(strategy), total_cycles(set, choice.candidates),
                           static_cast<std::int64_t>(choice.candidates.size())});
  record.totals.insert(record.totals.end(), choice.compared.begin(), choice.compared.end());
  record.graphs = choice.graphs;
  record.search = choice.search;
  return record;
}

bool was_not_planned(const CandidateRecord& row) {
  return !row.refusals.empty() && row.refusals.front().rule == out_of_time;
}

/// "the 12 groups that were planned within the time limit; 3 more were not, and of 2 operators the search was cut
/// short"
std::string over_in_time(const FusionRecord& record, const std::string& groups) {
  const auto& rows = record.candidates;
  const auto late = std::count_if(rows.begin(), rows.end(), was_not_planned);
  const auto cut = std::count_if(rows.begin(), rows.end(), [](const CandidateRecord& row) { return row.cut_short; });
  std::string over = fmt::format("the {} that were planned within the time limit; ", groups);
  if (late > 0) over += fmt::format("{} more {} not", late, for_number(late, "was", "were"));
  if (late > 0 && cut > 0) over += ", and ";
  if (cut > 0) over += fmt::format("of {} the search was cut short", counted(cut, "operator"));
  return over;
}

/// A strategy's choice with fixed groups in it. A strategy that does not look at costs may take their operators one by
/// one; that it accepts them so is not what happens, and is left out of the trace.
Choice choose_around(const CandidateSet& set, const std::vector<std::size_t>& fixed, const Strategy& strategy,
                     TraceSink trace, const std::stop_token& stop) {
  std::set<std::string> names;
  for (const std::size_t candidate : fixed) {
    const FusedOperator& group = set.of(candidate).group;
    for (const OpId op : group.operators) names.insert(set.facts.graph.op(op).name);
    trace.add(group.name, GroupFixed{names_each(set.facts.graph, group.operators)});
  }
  Trace own;
  Choice choice = strategy.choose(with_fixed(set, fixed), trace.listening() ? TraceSink(&own) : TraceSink(), stop);
  for (TraceRecord& record : own.records) {
    const bool acceptance = std::holds_alternative<GroupAccepted>(record.what);
    if (!acceptance || !names.contains(record.subject)) trace.add(std::move(record));
  }
  return with_fixed(set, std::move(choice), fixed);
}

}  // namespace

std::string_view name_of(CandidateFate fate) {
  switch (fate) {
    case CandidateFate::chosen: return "chosen";
    case CandidateFate::refused: return "refused";
    case CandidateFate::outbid: return "outbid";
  }
  fail_check("unknown fate");
}

std::string text_of(const SearchLimit& limit) {
  return fmt::format("limit reached: template {}: {}", limit.template_name, limit.message);
}

std::int64_t refuse_out_of_time(CandidateSet& set) {
  std::int64_t count = 0;
  for (CandidateGroup& candidate : set.candidates) {
    if (candidate.cut_short) ++count;
    if (candidate.refusals.empty() || candidate.refusals.front().rule != stopped_rule) continue;
    candidate.refusals = {Decision::refuse("out-of-time", "the time limit was over before it was planned")};
    ++count;
  }
  return count;
}

std::int64_t groups_out_of_time(const FusionRecord& record) {
  return std::count_if(record.candidates.begin(), record.candidates.end(),
                       [](const CandidateRecord& row) { return row.cut_short || was_not_planned(row); });
}

bool is_proved(const FusionRecord& record) {
  return record.search && record.search->complete && record.limits.empty() && groups_out_of_time(record) == 0;
}

std::string proof_text(const FusionRecord& record, std::int64_t cycles) {
  check(record.search.has_value(), "there was no search");
  const auto allowed = std::count_if(record.candidates.begin(), record.candidates.end(),
                                     [](const CandidateRecord& row) { return row.fate != CandidateFate::refused; });
  const std::string groups = counted(allowed, "group");
  if (is_proved(record)) {
    const bool fixed = std::any_of(record.candidates.begin(), record.candidates.end(), [](const CandidateRecord& row) {
      return std::any_of(row.refusals.begin(), row.refusals.end(),
                         [](const Decision& decision) { return decision.rule == fixed_rule; });
    });
    return fmt::format("proved best of all partitions into the {} that {} allow", groups,
                       fixed ? "the templates and the groups fixed by hand" : "the templates");
  }
  std::string over = groups;
  if (groups_out_of_time(record) > 0) {
    over = over_in_time(record, groups);
  } else if (!record.limits.empty()) {
    std::set<std::string> names;
    for (const SearchLimit& limit : record.limits) names.insert(limit.template_name);
    over = fmt::format("the {} that were looked at; a limit of template {} left others out", groups,
                       fmt::join(names, ", "));
  }
  const SearchSummary& search = *record.search;
  if (search.complete) return fmt::format("the best of the partitions into {}", over);
  const std::int64_t gap = cycles - search.lower_bound;
  const std::string above =
      fmt::format("at most {} cycles ({:.2f} %) above the best of the partitions into {}", grouped_digits(gap),
                  100.0 * static_cast<double>(gap) / static_cast<double>(std::max<std::int64_t>(1, cycles)), over);
  if (search.beam_segments == 0) return "not proved with the schedules that are fixed: " + above;
  return fmt::format("not proved: {}; {} of {} segments were too wide to be searched completely", above,
                     search.beam_segments, search.segments);
}

const CandidateRecord* find_candidate(const FusionRecord& record, std::vector<OpId> operators) {
  std::sort(operators.begin(), operators.end());
  for (const CandidateRecord& row : record.candidates) {
    if (row.operators.size() != operators.size()) continue;
    std::vector<OpId> own = row.operators;
    std::sort(own.begin(), own.end());
    if (own == operators) return &row;
  }
  return nullptr;
}

Fusion fuse_candidates(const CandidateSet& set, const Strategy& strategy, TraceSink trace, const std::stop_token& stop,
                       const std::vector<std::vector<OpId>>& fixed) {
  const Graph& graph = set.facts.graph;
  FixedCandidates person = find_fixed(set, fixed);
  if (!person.refused.empty()) return {{graph, {}}, {}, std::move(person.refused)};
  const Choice choice = person.candidates.empty() ? strategy.choose(set, trace, stop)
                                                  : choose_around(set, person.candidates, strategy, trace, stop);
  if (!person.candidates.empty() && !is_executable(set, choice.candidates)) {
    std::vector<FixedRefusal> circles = find_circles(set, choice.candidates, person.candidates);
    check(!circles.empty(), "a strategy chose groups that wait for each other");
    return {{graph, {}}, {}, std::move(circles)};
  }
  Fusion fusion{{graph, {}}, record_of(set, choice, strategy.name()), {}};
  for (const std::size_t candidate : choice.candidates) fusion.fused.groups.push_back(set.of(candidate).group);
  fusion.fused.groups = in_execution_order(set.facts, std::move(fusion.fused.groups));
  fusion.fused = with_stacks(std::move(fusion.fused));
  return fusion;
}

Fusion fuse_graph(const Graph& graph, const std::vector<FusionTemplate>& templates, const GroupCost* cost,
                  const Strategy& strategy, TraceSink trace, const std::stop_token& stop,
                  const std::vector<std::vector<OpId>>& fixed) {
  return fuse_candidates(find_candidate_groups(graph, templates, cost, trace, stop), strategy, trace, stop, fixed);
}

FusedGraph Strategy::fuse(const Graph& graph, const std::vector<FusionTemplate>& templates, const GroupCost* cost,
                          TraceSink trace) const {
  return fuse_graph(graph, templates, cost, *this, trace).fused;
}

const Strategy* find_strategy(std::string_view name) {
  static const NoFusion none;
  static const GreedyFusion greedy;
  static const TvmFusion tvm;
  static const DnnvmFusion dnnvm;
  static const ExactFusion exact;
  const std::initializer_list<const Strategy*> all = {&none, &greedy, &tvm, &dnnvm, &exact};
  for (const Strategy* strategy : all) {
    if (strategy->name() == name) return strategy;
  }
  return nullptr;
}

std::vector<std::string> strategy_names() { return {"none", "greedy", "tvm", "dnnvm", "exact"}; }

}  // namespace stowage
