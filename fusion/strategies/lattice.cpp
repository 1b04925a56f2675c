// SPDX-License-Identifier: Apache-2.0
#include "fusion/strategies/lattice.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/check.h"

namespace stowage {
namespace {

/// A set of operators by position. Word 0 is the number of 64-bit words, from the lowest position on, that are full;
/// the words behind it follow, without empty ones at the end. So a state of a long graph stays small.
using Key = std::vector<std::uint64_t>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
    for (const std::uint64_t word : key) {
      hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
      hash ^= hash >> 32U;
    }
    return static_cast<std::size_t>(hash);
  }
};

bool holds(const Key& key, std::size_t position) {
  const std::size_t word = position / 64;
  if (word < key[0]) return true;
  const std::size_t at = word - key[0] + 1;
  return at < key.size() && ((key[at] >> (position % 64)) & 1U) != 0;
}

Key with(const Key& key, const std::vector<std::size_t>& positions) {
  Key grown = key;
  for (const std::size_t position : positions) {
    const std::size_t at = position / 64 - key[0] + 1;
    if (at >= grown.size()) grown.resize(at + 1, 0);
    grown[at] |= std::uint64_t{1} << (position % 64);
  }
  std::size_t full = 0;
  while (full + 1 < grown.size() && ~grown[full + 1] == 0) ++full;
  grown.erase(grown.begin() + 1, grown.begin() + 1 + static_cast<std::ptrdiff_t>(full));
  grown[0] += full;
  return grown;
}

std::size_t first_missing(const Key& key) {
  const std::size_t base = static_cast<std::size_t>(key[0]) * 64;
  return key.size() == 1 ? base : base + static_cast<std::size_t>(__builtin_ctzll(~key[1]));
}

/// The problem over positions instead of operators.
struct LocalGroup {
  std::size_t candidate = 0;
  std::int64_t cycles = 0;
  std::int64_t share = 0;              ///< sum of the shares of its members
  std::vector<std::size_t> members;    ///< ascending
  std::vector<std::size_t> producers;  ///< of its operands, outside the group
  bool several_results = false;        ///< more than one of its members is read outside
};

class LocalProblem {
 public:
  LocalProblem(const CandidateSet& set, const LatticeProblem& problem) : size(problem.operators.size()) {
    const Graph& graph = set.facts.graph;
    std::unordered_map<std::size_t, std::size_t> position;  // of an operator, by OpId; only looked up
    for (std::size_t p = 0; p < size; ++p) position.emplace(problem.operators[p].index(), p);
    producers.resize(size);
    groups_of.resize(size);
    for (std::size_t p = 0; p < size; ++p) {
      for (const auto& operand : graph.op(problem.operators[p]).inputs) {
        if (!operand || !graph.tensor(*operand).producer) continue;
        const auto found = position.find(graph.tensor(*operand).producer->index());
        if (found != position.end()) producers[p].push_back(found->second);
      }
    }
    for (const std::size_t candidate : problem.candidates) {
      LocalGroup group;
      group.candidate = candidate;
      group.cycles = set.cycles(candidate);
      for (const OpId op : set.of(candidate).group.operators) group.members.push_back(position.at(op.index()));
      std::sort(group.members.begin(), group.members.end());
      const auto inside = [&](std::size_t p) {
        return std::binary_search(group.members.begin(), group.members.end(), p);
      };
      std::size_t results = 0;
      for (const std::size_t p : group.members) {
        for (const std::size_t producer : producers[p]) {
          if (!inside(producer)) group.producers.push_back(producer);
        }
        const std::vector<OpId> readers = readers_of(graph, problem.operators[p]);
        const bool leaves = std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
          const auto found = position.find(reader.index());
          return found == position.end() || !inside(found->second);
        });
        if (leaves || readers.empty()) ++results;
      }
      group.several_results = results > 1;
      std::sort(group.producers.begin(), group.producers.end());
      group.producers.erase(std::unique(group.producers.begin(), group.producers.end()), group.producers.end());
      for (const std::size_t p : group.members) groups_of[p].push_back(groups.size());
      groups.push_back(std::move(group));
    }
  }

  std::size_t size;
  std::vector<std::vector<std::size_t>> producers;  ///< by position
  std::vector<std::vector<std::size_t>> groups_of;  ///< by position
  std::vector<LocalGroup> groups;
};

std::vector<std::int64_t> shares_of(const LocalProblem& local) {
  constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
  // Weights: what each operator costs alone, so that a group's cost falls to those that cause it.
  std::vector<std::int64_t> weight(local.size, 1);
  for (const LocalGroup& group : local.groups) {
    if (group.members.size() == 1) weight[group.members[0]] = group.cycles;
  }
  std::vector<std::int64_t> share(local.size, unknown);
  for (const LocalGroup& group : local.groups) {
    long double whole = 0;
    for (const std::size_t p : group.members) whole += static_cast<long double>(weight[p]);
    for (const std::size_t p : group.members) {
      const long double part =
          whole > 0 ? static_cast<long double>(group.cycles) * static_cast<long double>(weight[p]) / whole : 0;
      // Rounded down, and one less for the rounding of the product: shares never add up to more than the group.
      share[p] = std::min(share[p], std::max<std::int64_t>(0, static_cast<std::int64_t>(part) - 1));
    }
  }
  // What every group leaves over goes to one operator after the other.
  std::vector<std::int64_t> slack;
  for (const LocalGroup& group : local.groups) {
    std::int64_t rest = group.cycles;
    for (const std::size_t p : group.members) rest -= share[p];
    slack.push_back(rest);
  }
  for (std::size_t p = 0; p < local.size; ++p) {
    if (share[p] == unknown) continue;
    std::int64_t more = unknown;
    for (const std::size_t g : local.groups_of[p]) more = std::min(more, slack[g]);
    if (more <= 0 || more == unknown) continue;
    share[p] += more;
    for (const std::size_t g : local.groups_of[p]) slack[g] -= more;
  }
  for (std::int64_t& s : share) {
    if (s == unknown) s = 0;
  }
  return share;
}

class Search {
 public:
  Search(const CandidateSet& set, const LatticeProblem& problem, const std::stop_token& stop)
      : problem_(problem), stop_(stop), local_(set, problem) {
    const std::vector<std::int64_t> share = shares_of(local_);
    for (LocalGroup& group : local_.groups) {
      for (const std::size_t p : group.members) group.share += share[p];
    }
    for (const std::int64_t s : share) rest_of_all_ += s;
    if (!problem.seed.empty()) {
      best_ = cost_of(set, problem.seed);
      result_.found = true;
      result_.choice = problem.seed;
    }
    tried_.resize(local_.groups.size(), 0);
    needed_.resize(local_.size, 0);
  }

  LatticeResult run() {
    std::int64_t least_dropped = std::numeric_limits<std::int64_t>::max();
    layers_.resize(local_.size + 1);
    add(Key{0}, State{{}, rest_of_all_, nobody, 0, nullptr}, 0);
    for (std::size_t size = 0; size < local_.size; ++size) {
      std::vector<std::size_t> layer = std::move(layers_[size]);
      drop_hopeless(layer);
      result_.widest = std::max(result_.widest, static_cast<std::int64_t>(layer.size()));
      if (layer.size() > problem_.beam && problem_.beam > 0) {
        std::nth_element(layer.begin(), layer.begin() + static_cast<std::ptrdiff_t>(problem_.beam), layer.end(),
                         [&](std::size_t a, std::size_t b) { return order(a) < order(b); });
        for (std::size_t i = problem_.beam; i < layer.size(); ++i) {
          least_dropped = std::min(least_dropped, states_[layer[i]].cost.cycles + states_[layer[i]].rest);
        }
        layer.resize(problem_.beam);
        std::sort(layer.begin(), layer.end());
        result_.complete = false;
      }
      for (const std::size_t state : layer) {
        if (stop_.stop_requested()) break;
        expand(state, size);
      }
    }
    for (const std::size_t state : layers_[local_.size]) take_if_better(state);
    result_.states = static_cast<std::int64_t>(states_.size());
    result_.cost = best_.value_or(PartitionCost{});
    result_.lower_bound = std::min(result_.cost.cycles, std::max(least_dropped, rest_of_all_));
    if (result_.lower_bound == result_.cost.cycles) result_.complete = true;  // the beam lost nothing
    return std::move(result_);
  }

 private:
  static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

  struct State {
    PartitionCost cost;
    std::int64_t rest = 0;        ///< lower bound of what remains
    std::size_t parent = nobody;  ///< index into states_
    std::size_t via = 0;          ///< index into local_.groups
    const Key* key = nullptr;
  };

  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, std::size_t> order(std::size_t state) const {
    return {states_[state].cost.cycles + states_[state].rest, states_[state].cost.groups, state};
  }

  [[nodiscard]] bool hopeless(const PartitionCost& cost, std::int64_t rest) const {
    return best_ && PartitionCost{cost.cycles + rest, cost.groups} >= *best_;
  }

  void drop_hopeless(std::vector<std::size_t>& layer) const {
    layer.erase(std::remove_if(layer.begin(), layer.end(),
                               [&](std::size_t s) { return hopeless(states_[s].cost, states_[s].rest); }),
                layer.end());
  }

  void add(Key key, State state, std::size_t size) {
    const auto [known, is_new] = index_.try_emplace(std::move(key), states_.size());
    state.key = &known->first;
    if (is_new) {
      layers_[size].push_back(states_.size());
      states_.push_back(state);
    } else if (state.cost < states_[known->second].cost) {
      states_[known->second] = state;
    }
  }

  void take_if_better(std::size_t state) {
    if (best_ && states_[state].cost >= *best_) return;
    best_ = states_[state].cost;
    result_.found = true;
    result_.choice.clear();
    for (std::size_t s = state; states_[s].parent != nobody; s = states_[s].parent) {
      result_.choice.push_back(local_.groups[states_[s].via].candidate);
    }
    std::reverse(result_.choice.begin(), result_.choice.end());
  }

  [[nodiscard]] bool usable(const LocalGroup& group, const Key& key) const {
    return std::none_of(group.members.begin(), group.members.end(), [&](std::size_t p) { return holds(key, p); });
  }

  [[nodiscard]] bool ready(const LocalGroup& group, const Key& key) const {
    return std::all_of(group.producers.begin(), group.producers.end(), [&](std::size_t p) { return holds(key, p); });
  }

  void expand(std::size_t at, std::size_t size) {
    const Key& key = *states_[at].key;
    ++stamp_;
    std::vector<std::size_t> walk;  // operators on which a waiting group with v depends
    const auto need = [&](std::size_t p) {
      if (holds(key, p) || needed_[p] == stamp_) return;
      needed_[p] = stamp_;
      walk.push_back(p);
    };
    const auto try_group = [&](std::size_t g) {
      if (tried_[g] == stamp_) return;
      tried_[g] = stamp_;
      const LocalGroup& group = local_.groups[g];
      if (!usable(group, key)) return;
      if (ready(group, key)) return step(at, g, size);
      // Its operands come first; and of a group with several results any may be what is waited for.
      for (const std::size_t p : group.producers) need(p);
    };
    for (const std::size_t g : local_.groups_of[first_missing(key)]) try_group(g);
    for (std::size_t i = 0; i < walk.size(); ++i) {
      for (const std::size_t p : local_.producers[walk[i]]) need(p);
      for (const std::size_t g : local_.groups_of[walk[i]]) {
        const LocalGroup& group = local_.groups[g];
        if (group.several_results) {
          try_group(g);
        } else if (tried_[g] != stamp_) {
          tried_[g] = stamp_;
          if (usable(group, key) && ready(group, key)) step(at, g, size);
        }
      }
    }
  }

  void step(std::size_t from, std::size_t g, std::size_t size) {
    const LocalGroup& group = local_.groups[g];
    const State& state = states_[from];
    const PartitionCost cost{state.cost.cycles + group.cycles, state.cost.groups + 1};
    const std::int64_t rest = state.rest - group.share;
    if (hopeless(cost, rest)) return;
    add(with(*state.key, group.members), State{cost, rest, from, g, nullptr}, size + group.members.size());
  }

  const LatticeProblem& problem_;
  const std::stop_token& stop_;
  LocalProblem local_;
  std::int64_t rest_of_all_ = 0;
  std::optional<PartitionCost> best_;
  std::vector<State> states_;
  std::vector<std::vector<std::size_t>> layers_;         ///< by number of operators
  std::unordered_map<Key, std::size_t, KeyHash> index_;  ///< looked up, never iterated
  std::vector<std::uint64_t> tried_;                     ///< by group: stamp of the last expansion that met it
  std::vector<std::uint64_t> needed_;                    ///< by operator: the same
  std::uint64_t stamp_ = 0;
  LatticeResult result_;
};

}  // namespace

PartitionCost cost_of(const CandidateSet& set, const std::vector<std::size_t>& choice) {
  return {total_cycles(set, choice), static_cast<std::int64_t>(choice.size())};
}

std::vector<std::int64_t> lower_bound_shares(const CandidateSet& set, const LatticeProblem& problem) {
  return shares_of(LocalProblem(set, problem));
}

LatticeResult best_partition(const CandidateSet& set, const LatticeProblem& problem, const std::stop_token& stop) {
  return Search(set, problem, stop).run();
}

}  // namespace stowage
