// SPDX-License-Identifier: Apache-2.0
// Strategies against each other and against brute force, on random graphs with random costs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "core/number_text.h"
#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "fusion/strategies/lattice.h"
#include "fusion/strategies/strategies.h"
#include "tests/fusion/brute_force.h"
#include "tests/fusion/net.h"
#include "tests/fusion/wired_net.h"

using namespace stowage;
using stowage::testing::check_partition;
using stowage::testing::compare_with_brute_force;
using stowage::testing::Net;

namespace {

/// A random graph of `size` operators that keeps up to `width` tensors alive.
Graph random_graph(std::mt19937& random, int size, std::size_t width) {
  Net net("random", static_cast<unsigned>(random()));
  std::vector<TensorId> alive{net.input("x", {1, 4, 6, 6})};
  std::vector<TensorId> unread;
  const auto read = [&](TensorId tensor) {
    unread.erase(std::remove(unread.begin(), unread.end(), tensor), unread.end());
  };
  for (int i = 0; i < size; ++i) {
    const std::string name = "op" + std::to_string(i);
    const std::size_t a = random() % alive.size();
    const std::size_t b = random() % alive.size();
    const TensorId left = alive[a];
    const TensorId right = alive[b];
    TensorId made;
    read(left);
    switch (random() % 4) {
      case 0: made = net.conv(name, left, 4, 3); break;
      case 1:
        if (left != right) {
          read(right);
          made = net.op("Add", name, {left, right});
          if (random() % 2 == 0) alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(b));
          break;
        }
        [[fallthrough]];
      default: made = net.op("Relu", name, {left}); break;
    }
    unread.push_back(made);
    if (alive.size() < width && random() % 2 == 0) {
      alive.push_back(made);
    } else {
      alive[random() % alive.size()] = made;
    }
  }
  return net.done(unread);
}

/// Seeded random costs; larger groups tend to be cheaper than their parts. Some are refused.
class RandomCost : public GroupCost {
 public:
  explicit RandomCost(unsigned seed) : seed_(seed) {}
  [[nodiscard]] Answer cost(const Graph&, const FusedOperator& group) const override {
    std::mt19937 random(seed_);
    unsigned hash = seed_;
    for (const OpId op : group.operators) hash = hash * 31 + static_cast<unsigned>(op.index()) + 7;
    random.seed(hash);
    const auto size = static_cast<std::int64_t>(group.operators.size());
    if (size > 1 && random() % 10 == 0) return {Decision::refuse("ldm-capacity", "too large"), 0};
    return {Decision::allow(), 10 + static_cast<std::int64_t>(random() % static_cast<unsigned>(40 * (size + 1) / 2))};
  }

 private:
  unsigned seed_;
};

/// Templates that match far more than the built-in ones do: two convolutions with element-wise operators all around.
const std::vector<FusionTemplate>& wide_templates() {
  static const std::vector<FusionTemplate> templates = [] {
    Diagnostics diagnostics;
    auto parsed = parse_templates(R"(
[[template]]
name = "convs"
summary = "conv, operators, conv, operators"
vertex = [
  { name = "first", role = "prologue", kinds = ["@element_wise"], optional = true },
  { name = "conv", role = "anchor", kinds = ["Conv"] },
  { name = "tail", role = "epilogue", kinds = ["@element_wise"], optional = true, repeat = 4 },
]
edge = [ { from = "first", to = "conv" }, { from = "conv", to = "tail" } ]

[[template]]
name = "joined"
summary = "two element-wise operators and the one that joins them"
vertex = [
  { name = "left", role = "prologue", kinds = ["@element_wise"] },
  { name = "right", role = "prologue", kinds = ["@element_wise"] },
  { name = "join", role = "anchor", kinds = ["Add"] },
  { name = "tail", role = "epilogue", kinds = ["@element_wise"], optional = true, repeat = 2 },
]
edge = [ { from = "left", to = "join" }, { from = "right", to = "join" }, { from = "join", to = "tail" } ]
)",
                                  "test", diagnostics);
    check(static_cast<bool>(parsed), format_diagnostics(diagnostics));
    std::vector<FusionTemplate> all = *parsed;
    const auto& built_in = built_in_templates();
    all.insert(all.end(), built_in.begin(), built_in.end());
    return all;
  }();
  return templates;
}

/// Candidates that no template makes: any set of two to four operators without a way out and in again, so groups of
/// several results and groups without inner edges as well, which may wait for each other in a circle.
CandidateSet arbitrary_candidates(const Graph& graph, std::mt19937& random, std::size_t tries_per_operator = 3,
                                  std::size_t spread = 4) {
  CandidateSet set{GraphFacts(graph), {}, {}, {}, true};
  const auto add = [&](std::vector<OpId> members) {
    std::vector<Member> with_roles;
    for (const OpId op : members) with_roles.push_back({op, "anchor"});
    const auto size = static_cast<std::int64_t>(members.size());
    CandidateGroup candidate{make_group(set.facts, "arbitrary", members[0], with_roles), {"arbitrary"}, {}, 0};
    candidate.cycles = 10 + static_cast<std::int64_t>(random() % static_cast<unsigned>(40 * (size + 1) / 2));
    set.candidates.push_back(std::move(candidate));
  };
  const std::size_t count = graph.operators().size();
  // reach[a][b]: a way from a to b
  std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
  for (auto op = set.facts.order.rbegin(); op != set.facts.order.rend(); ++op) {
    for (const OpId reader : graph.tensor(graph.op(*op).first_output()).consumers) {
      reach[op->index()][reader.index()] = true;
      for (std::size_t b = 0; b < count; ++b) {
        if (reach[reader.index()][b]) reach[op->index()][b] = true;
      }
    }
  }
  std::set<std::vector<OpId>> known;
  for (std::size_t tries = 0; tries < tries_per_operator * count; ++tries) {
    std::vector<OpId> members;
    for (std::size_t i = 0; i < 2 + random() % 3; ++i) {
      // Close to each other, so that overlaps are many.
      const std::size_t base = members.empty() ? random() % count : members[0].index() + random() % spread;
      const OpId op(std::min(base, count - 1));
      if (std::find(members.begin(), members.end(), op) == members.end()) members.push_back(op);
    }
    std::sort(members.begin(), members.end());
    const auto has = [&](std::size_t op) {
      return std::find(members.begin(), members.end(), OpId(op)) != members.end();
    };
    bool convex = members.size() > 1;
    for (std::size_t between = 0; between < count; ++between) {
      if (has(between)) continue;
      bool after = false;
      bool before = false;
      for (const OpId op : members) {
        after = after || reach[op.index()][between];
        before = before || reach[between][op.index()];
      }
      convex = convex && !(after && before);
    }
    if (convex && known.insert(members).second) add(members);
  }
  for (const OpId op : set.facts.order) add({op});
  set.single.resize(count);
  set.of_operator.resize(count);
  for (std::size_t c = 0; c < set.candidates.size(); ++c) {
    const std::vector<OpId>& members = set.of(c).group.operators;
    if (members.size() == 1) set.single[members[0].index()] = c;
    for (const OpId op : members) set.of_operator[op.index()].push_back(c);
  }
  return set;
}

/// A beam that is too narrow may miss the best partition; what it says about the best one must be true all the same.
void check_narrow_beam(const CandidateSet& set, std::int64_t best) {
  LatticeProblem problem;
  problem.operators = set.facts.order;
  problem.candidates = within(set, problem.operators, [](std::size_t) { return true; });
  for (const std::size_t beam : {1, 2, 5}) {
    problem.beam = beam;
    const LatticeResult found = best_partition(set, problem);
    if (!found.found) continue;  // without a seed a narrow beam may end nowhere
    check_partition(set, found.choice);
    CHECK(found.cost.cycles == total_cycles(set, found.choice));
    CHECK(found.lower_bound <= best);
    CHECK(best <= found.cost.cycles);
    if (found.complete) CHECK(found.cost.cycles == best);
  }
}

}  // namespace

TEST_CASE("exact equals brute force on 1000 random graphs with candidates of templates") {
  int fused_better = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Graph graph = random_graph(random, 1 + static_cast<int>(random() % 12), 1 + random() % 4);
    const RandomCost cost(seed);
    const CandidateSet set = find_candidate_groups(graph, wide_templates(), &cost, {});
    const std::int64_t best = compare_with_brute_force(set);
    if (best < total_cycles(set, alone(set))) ++fused_better;
  }
  CHECK(fused_better > 500);
}

TEST_CASE("exact equals brute force on 1000 random graphs with arbitrary candidates") {
  int circles = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Graph graph = random_graph(random, 2 + static_cast<int>(random() % 11), 1 + random() % 4);
    const CandidateSet set = arbitrary_candidates(graph, random);
    const std::int64_t best = compare_with_brute_force(set);
    check_narrow_beam(set, best);
    for (std::size_t a = 0; a < set.candidates.size(); ++a) {
      for (std::size_t b = a + 1; b < set.candidates.size(); ++b) {
        const auto& left = set.of(a).group.operators;
        const auto& right = set.of(b).group.operators;
        const bool apart = std::none_of(left.begin(), left.end(), [&](OpId op) {
          return std::find(right.begin(), right.end(), op) != right.end();
        });
        if (apart && !is_executable(set, {a, b})) ++circles;
      }
    }
  }
  CHECK(circles > 100);  // the test is about partitions that must be avoided
}

TEST_CASE("where a graph is too wide to be searched completely exact keeps a beam and says so") {
  std::mt19937 random(8);
  const Graph graph = testing::randomly_wired(8, 16, 24);
  const CandidateSet set = arbitrary_candidates(graph, random, 60, 24);
  Trace trace;
  const Choice choice = find_strategy("exact")->choose(set, TraceSink(&trace), {});
  check_partition(set, choice.candidates);
  const std::int64_t cycles = total_cycles(set, choice.candidates);
  REQUIRE(choice.search);
  CHECK_FALSE(choice.search->complete);
  CHECK(choice.search->beam_segments >= 1);
  CHECK(choice.search->lower_bound < cycles);
  CHECK(choice.search->lower_bound > cycles / 2);
  for (const StrategyTotal& other : choice.compared) CHECK(cycles <= other.cycles);
  const auto said = std::count_if(trace.records.begin(), trace.records.end(),
                                  [](const TraceRecord& record) { return heading_of(record).rule == "beam"; });
  CHECK(said == choice.search->beam_segments);
  FusionRecord record;
  record.search = choice.search;
  CHECK_FALSE(is_proved(record));
  const std::int64_t gap = cycles - choice.search->lower_bound;
  CHECK(proof_text(record, cycles).find("not proved: at most " + grouped_digits(gap) + " cycles") == 0);
}

TEST_CASE("the gap that a beam states is true where the whole search is known") {
  int cut = 0;
  int missed = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Graph graph = testing::randomly_wired(seed, 8, 10);
    const CandidateSet set = arbitrary_candidates(graph, random, 12, 12);
    LatticeProblem problem;
    problem.operators = set.facts.order;
    problem.candidates = within(set, problem.operators, [](std::size_t) { return true; });
    problem.seed = alone(set);
    problem.beam = 1'000'000;
    const LatticeResult best = best_partition(set, problem);
    REQUIRE(best.complete);
    CHECK(best.lower_bound == best.cost.cycles);
    for (const std::size_t beam : {3, 10, 30, 100}) {
      INFO("beam " << beam << " of " << best.widest);
      problem.beam = beam;
      const LatticeResult found = best_partition(set, problem);
      check_partition(set, found.choice);
      CHECK(found.lower_bound <= best.cost.cycles);
      CHECK(best.cost.cycles <= found.cost.cycles);
      if (found.complete) CHECK(found.cost.cycles == best.cost.cycles);
      cut += found.complete ? 0 : 1;
      missed += best.cost.cycles < found.cost.cycles ? 1 : 0;
    }
  }
  INFO(cut << " searches were cut, " << missed << " of them missed the best");
  CHECK(cut > 8);
  CHECK(missed > 0);
}

TEST_CASE("the record names the fate of every candidate") {
  Net net("join");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId y = net.input("y", {1, 4, 6, 6});
  const Graph graph = net.done({net.op("Add", "add", {net.conv("left", x, 4), net.conv("right", y, 4)})});
  const RandomCost cost(3);
  const FusionRecord record = fuse_graph(graph, built_in_templates(), &cost, *find_strategy("exact"), {}).record;
  const auto op = [&](const char* name) { return *graph.find_operator(name); };
  const CandidateRecord* left = find_candidate(record, {op("add"), op("left")});
  const CandidateRecord* right = find_candidate(record, {op("right"), op("add")});
  REQUIRE((left != nullptr && right != nullptr));
  CHECK(find_candidate(record, {op("left"), op("right")}) == nullptr);
  std::int64_t chosen = 0;
  for (const CandidateRecord& candidate : record.candidates) {
    if (candidate.fate == CandidateFate::chosen) chosen += candidate.cycles;
    CHECK((candidate.fate == CandidateFate::refused) == !candidate.refusals.empty());
    CHECK((candidate.fate == CandidateFate::outbid) == !candidate.outbid_by.empty());
    if (candidate.loss) CHECK(*candidate.loss >= 0);  // exact leaves nothing better
    for (const std::size_t holder : candidate.outbid_by) {
      CHECK(record.candidates.at(holder).fate == CandidateFate::chosen);
    }
  }
  REQUIRE(record.totals.size() == 5);
  CHECK(record.totals[0].strategy == "exact");
  CHECK(record.totals[0].cycles == chosen);
  REQUIRE(record.graphs.size() == 1);
  std::int64_t on_path = 0;
  for (const SearchGraph::Edge& edge : record.graphs[0].edges) on_path += edge.on_path ? edge.cycles : 0;
  CHECK(on_path == chosen);
}

TEST_CASE("strategies work without a cost") {
  Net net("plain");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const Graph graph = net.done({net.op("Relu", "relu", {net.conv("conv", x, 4)})});
  for (const std::string& name : strategy_names()) {
    INFO(name);
    const Fusion fusion = fuse_graph(graph, built_in_templates(), nullptr, *find_strategy(name), {});
    CHECK(verify(fusion.fused) == std::nullopt);
    CHECK(fusion.fused.groups.size() == (name == "none" ? 2U : 1U));
    CHECK_FALSE(fusion.record.costed);
  }
}
