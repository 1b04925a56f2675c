// SPDX-License-Identifier: Apache-2.0
// Groups that a person fixes: whatever the strategy, they are chosen, and the rest is a partition.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "fusion/groups/group.h"
#include "fusion/strategies/fixed_groups.h"
#include "fusion/strategies/strategies.h"
#include "tests/fusion/brute_force.h"
#include "tests/fusion/net.h"
#include "tests/fusion/wired_net.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

Graph two_layers() {
  Net net;
  const TensorId first = net.op("Relu", "relu1", {net.conv("conv1", net.input("x", {1, 4, 8, 8}), 4, 3)});
  return net.done({net.op("Relu", "relu2", {net.conv("conv2", first, 4, 3)})});
}

OpId named(const Graph& graph, const std::string& name) {
  for (const OpId op : topological_order(graph)) {
    if (graph.op(op).name == name) return op;
  }
  FAIL("no operator " << name);
  return {};
}

std::vector<OpId> sorted(std::vector<OpId> operators) {
  std::sort(operators.begin(), operators.end());
  return operators;
}

bool holds_group(const FusedGraph& fused, const std::vector<OpId>& operators) {
  return std::any_of(fused.groups.begin(), fused.groups.end(),
                     [&](const FusedOperator& group) { return sorted(group.operators) == sorted(operators); });
}

}  // namespace

TEST_CASE("a group that is taken apart stays apart, and the others are fused as before") {
  const Graph graph = two_layers();
  const std::vector<OpId> first = {named(graph, "conv1"), named(graph, "relu1")};
  const std::vector<OpId> second = {named(graph, "conv2"), named(graph, "relu2")};
  for (const std::string& name : strategy_names()) {
    INFO(name);
    const Fusion fusion =
        fuse_graph(graph, built_in_templates(), nullptr, *find_strategy(name), {}, {}, {{first[0]}, {first[1]}});
    REQUIRE(fusion.refused.empty());
    REQUIRE_FALSE(verify(fusion.fused).has_value());
    CHECK(holds_group(fusion.fused, {first[0]}));
    CHECK(holds_group(fusion.fused, {first[1]}));
    CHECK(holds_group(fusion.fused, second) == (name != "none"));
    const CandidateRecord* together = find_candidate(fusion.record, first);
    REQUIRE(together != nullptr);
    CHECK(together->fate == CandidateFate::outbid);  // no rule is against it, a person is
    for (const StrategyTotal& total : fusion.record.totals) CHECK(total.cycles < CandidateSet::unplannable);
  }
}

TEST_CASE("fixed groups are chosen by every strategy on random graphs") {
  int fixed_several = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Graph graph = stowage::testing::randomly_wired(seed, 2 + seed % 3, 6);
    const CandidateSet set = find_candidate_groups(graph, built_in_templates(), nullptr, {});
    std::vector<std::vector<OpId>> fixed;
    std::vector<bool> taken(graph.operators().size(), false);
    for (int i = 0; i < 8; ++i) {
      const CandidateGroup& candidate = set.candidates[random() % set.candidates.size()];
      const std::vector<OpId>& operators = candidate.group.operators;
      const bool free = std::none_of(operators.begin(), operators.end(), [&](OpId op) { return taken[op.index()]; });
      if (!free || !candidate.allowed()) continue;
      for (const OpId op : operators) taken[op.index()] = true;
      fixed.push_back(operators);
      if (operators.size() > 1) ++fixed_several;
    }
    for (const std::string& name : strategy_names()) {
      INFO(name);
      Trace trace;
      const Fusion fusion =
          fuse_graph(graph, built_in_templates(), nullptr, *find_strategy(name), TraceSink(&trace), {}, fixed);
      REQUIRE(fusion.refused.empty());
      REQUIRE_FALSE(verify(fusion.fused).has_value());
      for (const std::vector<OpId>& group : fixed) CHECK(holds_group(fusion.fused, group));
      const auto said = std::count_if(trace.records.begin(), trace.records.end(),
                                      [](const TraceRecord& record) { return heading_of(record).rule == "fixed"; });
      CHECK(said >= static_cast<std::ptrdiff_t>(fixed.size()));
    }
  }
  CHECK(fixed_several > 60);
}

TEST_CASE("fixing what a strategy chooses anyway changes nothing") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const Graph graph = stowage::testing::randomly_wired(seed, 3, 6);
    for (const char* name : {"greedy", "exact"}) {
      const Fusion by_itself = fuse_graph(graph, built_in_templates(), nullptr, *find_strategy(name), {});
      std::vector<std::vector<OpId>> half;
      for (std::size_t g = 0; g < by_itself.fused.groups.size(); g += 2) {
        half.push_back(by_itself.fused.groups[g].operators);
      }
      const Fusion again = fuse_graph(graph, built_in_templates(), nullptr, *find_strategy(name), {}, {}, half);
      CHECK(again.record.totals.front().cycles == by_itself.record.totals.front().cycles);
      if (std::string(name) == "greedy") CHECK(to_text(again.fused) == to_text(by_itself.fused));
    }
  }
}

TEST_CASE("a fixed group that cannot be says which rule is against it") {
  const Graph graph = two_layers();
  const auto refused = [&](std::vector<std::vector<OpId>> fixed) {
    const Fusion fusion = fuse_graph(graph, built_in_templates(), nullptr, *find_strategy("greedy"), {}, {}, fixed);
    REQUIRE(fusion.refused.size() == 1);
    CHECK(fusion.fused.groups.empty());
    return fusion.refused.front();
  };
  const FixedRefusal nobody = refused({{named(graph, "relu1")}, {named(graph, "conv1"), named(graph, "relu2")}});
  CHECK(nobody.group == 1);
  CHECK(nobody.refusals.front().rule == "fixed");
  CHECK(nobody.refusals.front().reason == "no template takes conv1 + relu2 as one group");
}

TEST_CASE("of fixed groups that wait for each other those are named that do") {
  // Two chains; a fixed group of the first of one and the second of the other, and the other way round. No template
  // makes such groups: branches read the same things.
  Net net;
  const TensorId a = net.op("Relu", "a1", {net.input("x", {4})});
  const TensorId b = net.op("Relu", "b1", {net.input("y", {4})});
  const TensorId c = net.op("Tanh", "c", {net.op("Exp", "before", {net.input("z", {4})})});
  const TensorId a2 = net.op("Relu", "a2", {a});
  const Graph graph = net.done({a2, net.op("Relu", "b2", {net.op("Tanh", "between", {b})}), c});
  CandidateSet set = find_candidate_groups(graph, {}, nullptr, {});
  const auto add = [&](const std::vector<std::string>& names) {
    std::vector<Member> members;
    for (const std::string& name : names) members.push_back({*graph.find_operator(name), "anchor"});
    set.candidates.push_back({make_group(set.facts, "by-hand", members[0].op, members), {"by-hand"}, {}, 1});
    return set.candidates.size() - 1;
  };
  const std::size_t apart = add({"before", "c"});
  const std::size_t first = add({"a1", "b2"});
  const std::size_t second = add({"b1", "a2"});
  const std::vector<std::size_t> choice = {apart, first, second};
  REQUIRE_FALSE(is_executable(set, choice));
  const std::vector<FixedRefusal> circles = find_circles(set, choice, choice);
  REQUIRE(circles.size() == 2);
  CHECK(circles[0].group == 1);
  CHECK(circles[0].refusals.at(0).rule == "circle");
  CHECK(circles[0].refusals.at(0).reason == "a1 + b2 waits for itself, by way of b1 + a2 and between");
  CHECK(circles[1].group == 2);
  CHECK(circles[1].refusals.at(0).reason == "b1 + a2 waits for itself, by way of a1 + b2 and between");
  REQUIRE(is_executable(set, {apart, first}));
  CHECK(find_circles(set, {apart, first}, {apart, first}).empty());
}
