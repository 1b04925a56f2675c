// SPDX-License-Identifier: Apache-2.0
#include "fusion/strategies/candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "fusion/groups/group.h"
#include "fusion/rules/legality.h"
#include "fusion/strategies/input_branches.h"

namespace stowage {
namespace {

/// Collects embeddings in greedy's order and joins those that cover the same operators.
class Collector {
 public:
  Collector(const GraphFacts& facts, TraceSink trace) : facts_(facts), trace_(trace) {}

  void add_template(const FusionTemplate& fusion_template, const std::stop_token& stop) {
    const std::vector<Pattern> patterns = expand(fusion_template);
    const VertexCandidates fitting = find_candidates(facts_, fusion_template);
    struct Found {
      std::size_t pattern = 0;
      Embedding embedding;
    };
    std::vector<std::vector<Found>> by_anchor(facts_.graph.operators().size());
    SearchBudget budget(by_anchor.size());
    std::set<OpId> given_up;
    std::size_t groups = 0;
    // Shortest first, so that it is the longest that are left out where there are too many.
    std::vector<std::size_t> order(patterns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return patterns[a].vertices.size() < patterns[b].vertices.size();
    });
    std::set<std::vector<std::pair<OpId, VertexRole>>> covered;  // several patterns may give operators the same roles
    for (const std::size_t p : order) {
      if (stop.stop_requested()) return;
      Embeddings embeddings = find_embeddings(facts_.graph, patterns[p], fitting, budget);
      given_up.insert(embeddings.given_up.begin(), embeddings.given_up.end());
      std::vector<Embedding> found = without_symmetric(std::move(embeddings.found));
      for (Embedding& more : branches_of_inputs(facts_, fusion_template, patterns[p], fitting)) {
        found.push_back(std::move(more));
      }
      for (Embedding& embedding : found) {
        std::vector<std::pair<OpId, VertexRole>> roles;
        for (std::size_t v = 0; v < embedding.size(); ++v) {
          roles.emplace_back(embedding[v], patterns[p].vertices[v].role);
        }
        std::sort(roles.begin(), roles.end());
        if (!covered.insert(std::move(roles)).second || ++groups > max_groups(by_anchor.size())) continue;
        const OpId anchor = embedding[patterns[p].anchor];
        by_anchor[anchor.index()].push_back({p, std::move(embedding)});
      }
    }
    note_limits(fusion_template.name, given_up, groups);
    if (given_up.empty() && groups <= max_groups(by_anchor.size())) note_longer_chains(fusion_template, fitting, stop);
    for (const OpId anchor : facts_.order) {
      std::vector<Found>& of_anchor = by_anchor[anchor.index()];
      std::stable_sort(of_anchor.begin(), of_anchor.end(),
                       [](const Found& a, const Found& b) { return a.pattern < b.pattern; });
      for (const Found& found : of_anchor) {
        add(embedded_group(facts_, fusion_template, patterns[found.pattern], found.embedding));
      }
    }
  }

  [[nodiscard]] const std::vector<SearchLimit>& limits() const { return limits_; }

  /// The candidates in order; operators that no template allows alone join behind.
  std::vector<CandidateGroup> finish() {
    for (const OpId op : facts_.order) {
      const auto known = known_.find({op});
      if (known == known_.end() || !entries_[known->second].candidate.allowed()) add_allowed(make_single(facts_, op));
    }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.place < b.place; });
    std::vector<CandidateGroup> candidates;
    for (Entry& entry : entries_) candidates.push_back(std::move(entry.candidate));
    return candidates;
  }

 private:
  struct Entry {
    CandidateGroup candidate;
    std::size_t place = 0;  ///< of the first embedding that is allowed, else of the first
  };

  void add(FusedOperator group) {
    const auto known = known_.find(group.operators);
    if (known != known_.end() && entries_[known->second].candidate.allowed()) {
      std::vector<std::string>& templates = entries_[known->second].candidate.templates;
      const bool listed = std::find(templates.begin(), templates.end(), group.template_name) != templates.end();
      if (!listed && refusals(facts_, group).empty()) templates.push_back(group.template_name);
      return;
    }
    std::vector<Decision> broken = refusals(facts_, group);
    if (broken.empty()) return add_allowed(std::move(group));
    if (known != known_.end()) return;  // refused again, in other roles
    known_.emplace(group.operators, entries_.size());
    std::vector<std::string> templates{group.template_name};
    entries_.push_back({{std::move(group), std::move(templates), std::move(broken), 0}, next_place_++});
  }

  void add_allowed(FusedOperator group) {
    const auto [known, is_new] = known_.emplace(group.operators, entries_.size());
    std::vector<std::string> templates{group.template_name};
    Entry entry{{std::move(group), std::move(templates), {}, 0}, next_place_++};
    if (is_new) {
      entries_.push_back(std::move(entry));
    } else {
      entries_[known->second] = std::move(entry);
    }
  }

  void note_limits(const std::string& template_name, const std::set<OpId>& given_up, std::size_t groups) {
    const std::size_t maximum = max_groups(facts_.graph.operators().size());
    if (!given_up.empty()) {
      note(template_name,
           StartsGivenUp{static_cast<std::int64_t>(given_up.size()), facts_.graph.op(*given_up.begin()).name,
                         static_cast<std::int64_t>(SearchBudget::tests_per_start),
                         static_cast<std::int64_t>(SearchBudget::embeddings_per_start)});
    }
    if (groups > maximum) {
      note(template_name, CandidatesCut{static_cast<std::int64_t>(groups), static_cast<std::int64_t>(maximum)});
    }
  }

  void note(const std::string& template_name, const TraceEvent& limit, bool of_repeat = false) {
    trace_.add(template_name, limit);
    limits_.push_back({template_name, sentence(limit), of_repeat});
  }

  /// Whether a group would be legal that is one operator longer than a repeated vertex allows.
  void note_longer_chains(const FusionTemplate& fusion_template, const VertexCandidates& fitting,
                          const std::stop_token& stop) {
    for (std::size_t v = 0; v < fusion_template.vertices.size(); ++v) {
      const int maximum = fusion_template.vertices[v].repeat;
      if (maximum == 1 || stop.stop_requested()) continue;
      FusionTemplate longer = fusion_template;
      ++longer.vertices[v].repeat;
      const std::string last_copy = fmt::format("{}#{}", longer.vertices[v].name, maximum + 1);
      SearchBudget budget(facts_.graph.operators().size());
      for (const Pattern& pattern : expand(longer)) {
        const bool is_longer =
            std::any_of(pattern.vertices.begin(), pattern.vertices.end(),
                        [&](const PatternVertex& vertex) { return vertex.name.starts_with(last_copy); });
        if (!is_longer) continue;
        const std::vector<Embedding> found = find_embeddings(facts_.graph, pattern, fitting, budget).found;
        const auto legal = std::find_if(found.begin(), found.end(), [&](const Embedding& embedding) {
          return refusals(facts_, embedded_group(facts_, fusion_template, pattern, embedding)).empty();
        });
        if (legal == found.end()) continue;
        note(fusion_template.name,
             ChainsCut{maximum, longer.vertices[v].name, facts_.graph.op((*legal)[pattern.anchor]).name}, true);
        break;
      }
    }
  }

  const GraphFacts& facts_;
  TraceSink trace_;
  std::map<std::vector<OpId>, std::size_t> known_;  ///< operators in topological order → entry
  std::vector<Entry> entries_;
  std::vector<SearchLimit> limits_;
  std::size_t next_place_ = 0;
};

/// Asks what the allowed groups cost, all at once.
void add_costs(CandidateSet& set, const GroupCost* cost, const std::stop_token& stop) {
  std::vector<FusedOperator> asked;
  std::vector<std::size_t> candidate_of;
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    CandidateGroup& candidate = set.candidates[c];
    if (!candidate.allowed() || candidate.group.is_view) continue;
    if (cost == nullptr) {
      candidate.cycles = 1;
      continue;
    }
    asked.push_back(candidate.group);
    candidate_of.push_back(c);
  }
  if (cost == nullptr) return;
  std::vector<GroupCost::Answer> answers = cost->costs(set.facts.graph, asked, stop);
  check(answers.size() == asked.size(), "every group has a cost");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CandidateGroup& candidate = set.candidates[candidate_of[i]];
    if (answers[i].decision) {
      check(answers[i].cycles >= 0 && answers[i].cycles < CandidateSet::unplannable, "a cost out of range");
      candidate.cycles = answers[i].cycles;
      candidate.cut_short = answers[i].cut_short;
    } else {
      candidate.refusals.push_back(std::move(answers[i].decision));
    }
  }
}

}  // namespace

std::vector<GroupCost::Answer> GroupCost::costs(const Graph& graph, std::span<const FusedOperator> groups,
                                                const std::stop_token& stop) const {
  std::vector<Answer> answers;
  for (const FusedOperator& group : groups) {
    answers.push_back(stop.stop_requested() ? Answer{{false, stopped_rule, "stopped", {}}, 0} : cost(graph, group));
  }
  return answers;
}

FusedOperator embedded_group(const GraphFacts& facts, const FusionTemplate& fusion_template, const Pattern& pattern,
                             const Embedding& embedding) {
  std::vector<Member> members;
  for (std::size_t v = 0; v < embedding.size(); ++v) {
    const VertexRole role = pattern.vertices[v].role;
    if (role != VertexRole::context) members.push_back({embedding[v], std::string(name_of(role))});
  }
  return make_group(facts, fusion_template.name, embedding[pattern.anchor], std::move(members));
}

CandidateSet find_candidate_groups(const Graph& graph, const std::vector<FusionTemplate>& templates,
                                   const GroupCost* cost, TraceSink trace, const std::stop_token& stop) {
  CandidateSet set{GraphFacts(graph), {}, {}, {}, cost != nullptr, {}};
  Collector collector(set.facts, trace);
  for (const FusionTemplate& fusion_template : templates) {
    if (!stop.stop_requested()) collector.add_template(fusion_template, stop);
  }
  set.all_matched = !stop.stop_requested();
  set.candidates = collector.finish();
  set.limits = collector.limits();
  add_costs(set, cost, stop);
  set.single.resize(graph.operators().size());
  set.of_operator.resize(graph.operators().size());
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    const CandidateGroup& candidate = set.candidates[c];
    if (candidate.group.operators.size() == 1) set.single[candidate.group.operators[0].index()] = c;
    if (!candidate.allowed()) continue;
    for (const OpId op : candidate.group.operators) set.of_operator[op.index()].push_back(c);
  }
  return set;
}

std::vector<std::size_t> within(const CandidateSet& set, const std::vector<OpId>& operators,
                                const std::function<bool(std::size_t)>& accepted) {
  std::vector<OpId> sorted = operators;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> found;
  for (const OpId first : operators) {
    const std::size_t single = set.single[first.index()];
    if (!set.of(single).allowed() && accepted(single)) found.push_back(single);
    for (const std::size_t c : set.of_operator[first.index()]) {
      const std::vector<OpId>& members = set.of(c).group.operators;
      const bool inside = members.front() == first && std::all_of(members.begin(), members.end(), [&](OpId op) {
                            return std::binary_search(sorted.begin(), sorted.end(), op);
                          });
      if (inside && accepted(c)) found.push_back(c);
    }
  }
  return found;
}

std::int64_t total_cycles(const CandidateSet& set, const std::vector<std::size_t>& choice) {
  std::int64_t total = 0;
  for (const std::size_t candidate : choice) total += set.cycles(candidate);
  return total;
}

bool has_several_results(const Graph& graph, const FusedOperator& group) {
  const auto leaves = [&](OpId op) {
    const std::vector<OpId> readers = readers_of(graph, op);
    return makes_network_output(graph, op) || readers.empty() ||
           std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
             return std::find(group.operators.begin(), group.operators.end(), reader) == group.operators.end();
           });
  };
  return std::count_if(group.operators.begin(), group.operators.end(), leaves) > 1;
}

bool is_executable(const CandidateSet& set, const std::vector<std::size_t>& choice) {
  const Graph& graph = set.facts.graph;
  // Groups by number; operators that no group holds get numbers of their own behind them.
  constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  std::vector<std::size_t> owner(graph.operators().size(), nobody);
  for (std::size_t g = 0; g < choice.size(); ++g) {
    for (const OpId op : set.of(choice[g]).group.operators) owner[op.index()] = g;
  }
  std::size_t groups = choice.size();
  for (std::size_t& group : owner) {
    if (group == nobody) group = groups++;
  }
  std::vector<std::size_t> waiting(groups, 0);
  std::vector<std::vector<std::size_t>> readers(groups);
  for (const OpId op : set.facts.order) {
    for (const OpId reader : readers_of(graph, op)) {
      if (owner[op.index()] == owner[reader.index()]) continue;
      readers[owner[op.index()]].push_back(owner[reader.index()]);
      ++waiting[owner[reader.index()]];
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t g = 0; g < groups; ++g) {
    if (waiting[g] == 0) ready.push_back(g);
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const std::size_t g = ready.back();
    ready.pop_back();
    ++done;
    for (const std::size_t reader : readers[g]) {
      if (--waiting[reader] == 0) ready.push_back(reader);
    }
  }
  return done == groups;
}

}  // namespace stowage
