// SPDX-License-Identifier: Apache-2.0
// Strategies with the costs of real plans.
#include <catch2/catch.hpp>

#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "tests/fusion/brute_force.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/wired_net.h"

using namespace stowage;

TEST_CASE("exact equals brute force on 50 random graphs with the costs of plans") {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {}, diagnostics);
  REQUIRE(target);
  const PlannedGroupCost cost(*find_planner("swtvm"), *target);
  int fused = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    const Graph graph = testing::RandomNet(seed).make(9);  // views come on top
    const CandidateSet set = find_candidate_groups(graph, built_in_templates(), &cost, {});
    const std::int64_t best = testing::compare_with_brute_force(set);
    std::int64_t alone = 0;
    for (const std::size_t single : set.single) alone += set.cycles(single);
    if (best < alone) ++fused;
  }
  CHECK(fused > 30);
}

TEST_CASE("exact states how far it may be from the best on randomly wired graphs") {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {}, diagnostics);
  REQUIRE(target);
  const PlannedGroupCost cost(*find_planner("swtvm"), *target);
  for (const std::size_t width : {8, 12, 16}) {
    INFO("width " << width);
    const Graph graph = testing::randomly_wired(7, width, 40);
    const CandidateSet set = find_candidate_groups(graph, built_in_templates(), &cost, {});
    const Choice choice = find_strategy("exact")->choose(set, {}, {});
    testing::check_partition(set, choice.candidates);
    const std::int64_t cycles = total_cycles(set, choice.candidates);
    for (const StrategyTotal& other : choice.compared) CHECK(cycles <= other.cycles);
    REQUIRE(choice.search);
    CHECK(choice.search->lower_bound <= cycles);
    CHECK(choice.search->complete == (choice.search->lower_bound == cycles));
    CHECK(choice.search->lower_bound > cycles / 2);
  }
}
