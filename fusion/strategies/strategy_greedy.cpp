// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/template_names.h"
#include "fusion/groups/group.h"
#include "fusion/strategies/strategies.h"

namespace stowage {
namespace {

class Greedy {
 public:
  Greedy(const CandidateSet& set, TraceSink trace)
      : set_(set), graph_(set.facts.graph), trace_(trace), owner_(set.single.size()) {}

  void run(const std::stop_token& stop) {
    for (std::size_t c = 0; c < set_.candidates.size(); ++c) {
      if (stop.stop_requested()) break;
      const FusedOperator& group = set_.of(c).group;
      const bool left_alone = group.template_name == single_template || group.is_view;
      // Whether several kernels in one pay, only their cost says.
      const bool several_kernels = std::any_of(group.roles.begin(), group.roles.end(), [](const std::string& role) {
        return role == "producer" || role == "branch";
      });
      if (several_kernels && !set_.costed) continue;
      if (!left_alone && !owner_[anchor_of(group).index()]) consider(c);
    }
  }

  std::vector<std::size_t> finish() {
    for (const OpId op : set_.facts.order) {
      if (!owner_[op.index()]) take(set_.single[op.index()]);
    }
    return std::move(chosen_);
  }

 private:
  static OpId anchor_of(const FusedOperator& group) {
    for (std::size_t i = 0; i < group.roles.size(); ++i) {
      if (group.roles[i] == "anchor") return group.operators[i];
    }
    return group.operators.front();
  }

  void consider(std::size_t c) {
    const CandidateGroup& candidate = set_.of(c);
    for (const OpId op : candidate.group.operators) {
      if (const auto owner = owner_[op.index()]) {
        return refuse(c, {Decision::refuse("taken", fmt::format("{} already belongs to {}", graph_.op(op).name,
                                                                set_.of(*owner).group.name))});
      }
    }
    if (!candidate.allowed()) return refuse(c, candidate.refusals);
    if (auto slower = slower_than_parts(c)) return refuse(c, {*std::move(slower)});
    if (closes_circle(c)) {
      return refuse(c, {Decision::refuse("circle", "it and groups that were taken before would wait for each other")});
    }
    take(c);
  }

  bool closes_circle(std::size_t c) {
    several_results_ = several_results_ || has_several_results(graph_, set_.of(c).group);
    if (!several_results_) return false;
    std::vector<std::size_t> choice = chosen_;
    choice.push_back(c);
    return !is_executable(set_, choice);
  }

  [[nodiscard]] std::optional<Decision> slower_than_parts(std::size_t c) {
    const FusedOperator& group = set_.of(c).group;
    if (!set_.costed || group.operators.size() == 1) return std::nullopt;
    const std::vector<std::size_t>& parts = parts_of(c);
    const std::int64_t cycles = total_cycles(set_, parts);
    if (set_.cycles(c) <= cycles) return std::nullopt;
    std::string names;
    for (const std::size_t part : parts) {
      names += (names.empty() ? "" : ", ") + names_of(graph_, set_.of(part).group.operators);
    }
    return Decision::refuse("slower-than-parts", fmt::format("fused it takes {} cycles, its parts take {} ({})",
                                                             set_.cycles(c), cycles, names));
  }

  /// What greedy makes of a candidate's operators with the candidates behind it: templates of several kernels come
  /// first, and must be worth more than the smaller ones.
  const std::vector<std::size_t>& parts_of(std::size_t c) {
    const auto known = parts_.find(c);
    if (known != parts_.end()) return known->second;
    const std::vector<OpId>& operators = set_.of(c).group.operators;
    std::set<OpId> left(operators.begin(), operators.end());
    std::vector<std::size_t> behind = within(set_, operators, [&](std::size_t other) { return other > c; });
    std::sort(behind.begin(), behind.end());
    std::vector<std::size_t> parts;
    for (const std::size_t part : behind) {
      const std::vector<OpId>& members = set_.of(part).group.operators;
      const bool free = std::all_of(members.begin(), members.end(), [&](OpId op) { return left.contains(op); });
      if (members.size() == 1 || !free || slower_than_parts(part)) continue;
      for (const OpId op : members) left.erase(op);
      parts.push_back(part);
    }
    for (const OpId op : left) parts.push_back(set_.single[op.index()]);
    return parts_[c] = std::move(parts);
  }

  void take(std::size_t c) {
    note_choice(set_, {c}, trace_);
    for (const OpId op : set_.of(c).group.operators) owner_[op.index()] = c;
    chosen_.push_back(c);
  }

  void refuse(std::size_t c, const std::vector<Decision>& broken) const {
    if (!trace_.listening()) return;
    const FusedOperator& group = set_.of(c).group;
    trace_.add(group.name, CandidateRefused{group.template_name, names_each(graph_, group.operators), broken});
  }

  const CandidateSet& set_;
  const Graph& graph_;
  TraceSink trace_;
  std::vector<std::optional<std::size_t>> owner_;  ///< by operator: the candidate that took it
  std::vector<std::size_t> chosen_;
  std::map<std::size_t, std::vector<std::size_t>> parts_;  ///< by candidate: what it is compared with
  bool several_results_ = false;                           ///< some group that was considered has several
};

}  // namespace

Choice GreedyFusion::choose(const CandidateSet& set, TraceSink trace, const std::stop_token& stop) const {
  Greedy greedy(set, trace);
  greedy.run(stop);
  return {greedy.finish(), {}, {}, {}};
}

}  // namespace stowage
