// SPDX-License-Identifier: Apache-2.0
// Planner "searched" refuses nothing that costs fewer cycles: no plan that it found, no group that can be planned, and
// no plan that fewer cores would have been given.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "lowering/model/group_model.h"
#include "lowering/model/planner.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/shared_lines.h"
#include "tests/fusion/net.h"
#include "tests/fusion/random_partition.h"
#include "tests/random_runs.h"
#include "tests/sunway.h"

namespace stowage::cost_decides_test {

using namespace stowage::testing;
using test::number_from;

namespace {

const Planner& searched() { return *find_planner("searched"); }
const Planner& swtvm() { return *find_planner("swtvm"); }

Target sunway(std::int64_t cores = 64) { return fixtures::sunway({fmt::format("cores.count={}", cores)}); }

/// One operator, or a few in a chain, of sizes as networks have them.
class RandomChain {
 public:
  explicit RandomChain(unsigned seed) : net_("random", seed), random_(seed) {}

  Graph make(std::int64_t operators) {
    const bool image = between(0, 2) > 0;
    TensorId x = image ? net_.input("x", {between(1, 2), Ints{3, 16, 24, 64, 96}[draw(5)], Ints{7, 14, 28, 56}[draw(4)],
                                          Ints{7, 14, 28}[draw(3)]})
                       : net_.input("x", {Ints{1, 16, 128}[draw(3)], Ints{10, 64, 256, 1000}[draw(4)]});
    for (std::int64_t i = 0; i < operators; ++i) {
      const std::string name = fmt::format("op{}", i);
      x = net_.shape(x).size() == 4 ? of_image(name, x) : of_rows(name, x);
    }
    return net_.done({x});
  }

 private:
  using Ints = std::vector<std::int64_t>;

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  std::size_t draw(std::int64_t of) { return static_cast<std::size_t>(between(0, of - 1)); }

  TensorId of_image(const std::string& name, TensorId x) {
    const Shape shape = net_.shape(x);
    const bool large = shape[2] >= 3 && shape[3] >= 3;
    const Attributes window{{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
    switch (between(0, 8)) {
      case 0:
      case 1: return net_.conv(name, x, Ints{8, 32, 64, 128}[draw(4)], large ? 3 : 1, between(1, 2));
      case 2: return net_.conv(name, x, Ints{16, 64, 256}[draw(3)]);
      case 3:
        return net_.op("Conv", name, {x, net_.constant(name + "_w", {shape[1], 1, 3, 3})},
                       {{"group", shape[1]}, {"pads", Ints{1, 1, 1, 1}}});
      case 4: return net_.op(between(0, 1) == 0 ? "MaxPool" : "AveragePool", name, {x}, window);
      case 5: return net_.op("GlobalAveragePool", name, {x});
      case 6: return net_.op("LRN", name, {x}, {{"size", std::int64_t{5}}});
      case 7: return net_.op("Softmax", name, {x}, {{"axis", between(1, 3)}});
      default: return net_.op("Sigmoid", name, {x});
    }
  }

  TensorId of_rows(const std::string& name, TensorId x) {
    const std::int64_t columns = net_.shape(x)[1];
    switch (between(0, 5)) {
      case 0:
      case 1: {
        const std::int64_t features = Ints{10, 64, 512}[draw(3)];
        return net_.op("MatMul", name, {x, net_.constant(name + "_w", {columns, features})});
      }
      case 2: return net_.op("Softmax", name, {x}, {{"axis", between(0, 1)}});
      case 3: return net_.op("LayerNormalization", name, {x, net_.constant(name + "_s", {columns})});
      case 4: return net_.op("Transpose", name, {x}, {{"perm", Ints{1, 0}}});
      default: return net_.op("Sigmoid", name, {x});
    }
  }

  Net net_;
  std::mt19937 random_;
};

FusedOperator whole(const Graph& graph) {
  const GraphFacts facts(graph);
  std::vector<Member> members;
  for (const OpId op : facts.order) members.push_back({op, op == facts.order.back() ? "anchor" : "producer"});
  return make_group(facts, "test", facts.order.back(), members);
}

/// Price of a plan of a group (shared_lines.h).
std::int64_t price_of_plan(const GroupModel& model, const Plan& plan, const Target& target) {
  return price_of(plan.time.cycles, !target.dma.lines && cores_share_lines(model, *plan.schedule.parallel,
                                                                           target.main_memory.line_bytes));
}

struct Search {
  std::optional<std::int64_t> cycles;  ///< of what was chosen
  std::optional<std::int64_t> price;   ///< the same
  std::string refused;                 ///< what was found and not taken, though it has a lower price
};

Search search(const StageList& stages, const Target& target) {
  Trace trace;
  const Planned planned = plan_group("group", stages, {}, searched(), target, TraceSink(&trace));
  Search found;
  for (const TraceRecord& record : trace.records) {
    const TraceHeading at = heading_of(record);
    const bool in_search = at.algorithm == "search" && at.outcome == TraceOutcome::refused;
    if (in_search && !std::holds_alternative<CheaperPlanRefused>(record.what)) found.refused += sentence(record) + "\n";
  }
  if (const auto* plan = std::get_if<Plan>(&planned)) {
    found.cycles = plan->time.cycles;
    found.price = price_of_plan(build_group_model(stages, target), *plan, target);
  }
  return found;
}

/// The least price of some splits, drawn at random, with the published algorithms behind them.
std::int64_t least_of_some(const StageList& stages, const Target& target, unsigned seed) {
  std::mt19937 random(seed);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const GroupModel model = build_group_model(stages, target);
  const std::vector<CoreGrid> grids = core_grids(model, target);
  for (int draw = 0; draw < 12; ++draw) {
    // The first ones have the least bounds: what breaks a rule and is cheap is among them.
    const std::size_t among = draw < 6 ? std::min<std::size_t>(12, grids.size()) : grids.size();
    Schedule fixed;
    fixed.parallel = grids[random() % among].parallel;
    const Planned planned = plan_group("group", stages, fixed, swtvm(), target, {});
    if (const auto* plan = std::get_if<Plan>(&planned)) least = std::min(least, price_of_plan(model, *plan, target));
  }
  return least;
}

}  // namespace

TEST_CASE("no plan that the search finds is refused: of random operators, and of groups of two to four") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20261122);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 200);
  const Target target = sunway();
  for (const bool several : {false, true}) {
    std::uint64_t refused = 0;
    std::uint64_t planned = 0;
    std::uint64_t priced = 0;
    std::string examples;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const auto own = static_cast<unsigned>(seed + round);
      const Graph graph = RandomChain(own).make(several ? 2 + static_cast<std::int64_t>(round % 3) : 1);
      const FusedOperator group = whole(graph);
      const StageList stages = group_stages(graph, group);
      const Search found = search(stages, target);
      INFO("STOWAGE_SEED=" << own << " STOWAGE_ROUNDS=1\n" << to_text(stages));
      std::string why = found.refused;
      if (own % 4 == 0 || rounds == 1) {  // it searches once more
        ++priced;
        const GroupCost::Answer cost = PlannedGroupCost(searched(), target).cost(graph, group);
        CHECK(static_cast<bool>(cost.decision) == found.cycles.has_value());
        if (!cost.decision) why += fmt::format("{}: {}\n", cost.decision.rule, cost.decision.reason);
        if (cost.decision && cost.cycles != found.cycles) why += "another cost than the plan's\n";
      }
      if (!found.cycles) continue;
      ++planned;
      const std::int64_t least = least_of_some(stages, target, own);
      if (least < *found.cycles) why += fmt::format("{} cycles, where a price of {} is enough\n", *found.cycles, least);
      if (why.empty()) continue;
      ++refused;
      examples += fmt::format("STOWAGE_SEED={}: {}", own, why);
    }
    INFO((several ? "groups" : "operators") << " from STOWAGE_SEED=" << seed << " on: of " << planned
                                            << " that have a plan, for " << refused << " a better one was refused:\n"
                                            << examples);
    CHECK(refused == 0);
    CHECK(priced >= rounds / 4);
    if (rounds >= 60) CHECK(planned > rounds / 2);
  }
}

TEST_CASE("twice as many cores are never slower under planner searched: random operators and groups") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20261123);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 200);
  std::uint64_t costlier = 0;
  std::uint64_t cheaper = 0;
  std::string examples;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto own = static_cast<unsigned>(seed + round);
    const Graph graph = RandomChain(own).make(1 + static_cast<std::int64_t>(round % 3));
    const StageList stages = group_stages(graph, whole(graph));
    std::optional<std::int64_t> of_fewer;
    for (int cores = round % 2 == 0 ? 1 : 3; cores <= 64; cores *= 2) {
      // Cycles against a price: more cores may take the cycles that a split of fewer saves for its lines.
      const Search found = search(stages, sunway(cores));
      if (of_fewer && found.cycles.value_or(*of_fewer + 1) > *of_fewer) {
        ++costlier;
        examples += fmt::format("STOWAGE_SEED={}: a price of {} on {} cores, {} cycles on {}\n", own, *of_fewer,
                                cores / 2, found.cycles.value_or(0), cores);
      }
      if (of_fewer && found.cycles && *found.cycles < *of_fewer) ++cheaper;
      if (found.price) of_fewer = found.price;
    }
  }
  INFO("from STOWAGE_SEED=" << seed << " on, " << costlier << " times more cores were more expensive:\n" << examples);
  CHECK(costlier == 0);
  if (rounds >= 60) CHECK(cheaper > rounds);
}

}  // namespace stowage::cost_decides_test
