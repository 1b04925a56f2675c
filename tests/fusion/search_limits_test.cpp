// SPDX-License-Identifier: Apache-2.0
// Templates that fit nearly everything are cut off with a statement of what was left out; time and memory stay
// proportional to the network.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <regex>

#include "fusion/match/match.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"
#include "tests/fusion/chain_net.h"
#include "tests/fusion/net.h"

using namespace stowage;
using stowage::testing::chain;
using stowage::testing::chain_of;
using stowage::testing::Net;

namespace {

/// Layers of two operators, each of which reads both of the layer before: as many ways through as there are subsets.
Graph ladder(int layers) {
  Net net("ladder");
  TensorId a = net.input("a", {2, 2});
  TensorId b = net.input("b", {2, 2});
  for (int i = 0; i < layers; ++i) {
    const TensorId next = net.op("Add", "add" + std::to_string(i), {a, b});
    b = net.op("Mul", "mul" + std::to_string(i), {a, b});
    a = next;
  }
  return net.done({a, b});
}

}  // namespace

TEST_CASE("a search with a budget ends, and keeps one embedding for a set of operators") {
  const GraphFacts facts(ladder(40));
  const auto templates = chain_of(30);
  const VertexCandidates candidates = find_candidates(facts, templates[0]);
  SearchBudget budget(facts.order.size());
  std::size_t found = 0;
  std::int64_t tests = 0;
  for (const Pattern& pattern : expand(templates[0])) {
    const Embeddings embeddings = find_embeddings(facts.graph, pattern, candidates, budget);
    found += embeddings.found.size();
    tests += embeddings.tests;
    CHECK(without_symmetric(embeddings.found).size() == embeddings.found.size());
  }
  const auto starts = static_cast<std::int64_t>(facts.order.size());
  CHECK(tests <= starts * (SearchBudget::tests_per_start + 30));  // a start itself is a test of each pattern
  CHECK(static_cast<std::int64_t>(found) <= starts * SearchBudget::embeddings_per_start);
}

TEST_CASE("a template that fits nearly everything is cut off, and that is said") {
  const auto templates = chain_of(30);
  Trace trace;
  const Fusion fusion = fuse_graph(ladder(60), templates, nullptr, *find_strategy("none"), TraceSink(&trace));
  REQUIRE_FALSE(fusion.record.limits.empty());
  CHECK(text_of(fusion.record.limits[0]) ==
        "limit reached: template everything: the search from 106 operators (add0, ...) ended after 20000 tries or 200 "
        "groups, what else there is was not looked for");
  CHECK(fusion.record.candidates.size() <= max_groups(120) + 120);
  CHECK(std::any_of(trace.records.begin(), trace.records.end(),
                    [](const TraceRecord& record) { return heading_of(record).rule == "search-limit"; }));
}

TEST_CASE("what is left out of too many groups is counted, the longest are") {
  // Short chains through a ladder: no search from one operator ends early, but there are more than 32 an operator.
  const Graph graph = ladder(100);
  const Fusion fusion = fuse_graph(graph, chain_of(5), nullptr, *find_strategy("none"), {});
  REQUIRE_FALSE(fusion.record.limits.empty());
  const std::string text = text_of(fusion.record.limits.back());
  INFO(text);
  CHECK(std::regex_match(text,
                         std::regex("limit reached: template everything: of [0-9]+ groups that were found the 6400 of "
                                    "fewest operators are candidates, [0-9]+ are left out")));
  std::map<std::size_t, std::size_t> lengths;
  for (const CandidateRecord& candidate : fusion.record.candidates) ++lengths[candidate.operators.size()];
  CHECK(fusion.record.candidates.size() <= max_groups(200) + 200);
}

TEST_CASE("a chain of up to 32 is never cut off where the network is one") {
  const Fusion fusion = fuse_graph(chain(500), chain_of(32), nullptr, *find_strategy("none"), {});
  REQUIRE(fusion.record.limits.size() == 1);  // but for what is longer
  CHECK(fusion.record.limits[0].of_repeat);
  CHECK(fusion.record.candidates.size() == 32 * 500 - 32 * 33 / 2 + 500);
}

TEST_CASE("'proved best' says over what, and is not said where a limit left groups out") {
  const auto fused = [](const Graph& graph, const std::vector<FusionTemplate>& templates) {
    const FusionRecord record = fuse_graph(graph, templates, nullptr, *find_strategy("exact"), {}).record;
    REQUIRE(record.search);
    CHECK(record.search->complete);
    return record;
  };
  // Four operators behind the first one fit; of 5 in a chain there are 15 stretches.
  const FusionRecord whole = fused(chain(5), chain_of(4));
  CHECK(is_proved(whole));
  CHECK(proof_text(whole, 1) == "proved best of all partitions into the 15 groups that the templates allow");

  const FusionRecord longer = fused(chain(6), chain_of(4));
  CHECK_FALSE(is_proved(longer));
  REQUIRE(longer.limits.size() == 1);
  CHECK(longer.limits[0].of_repeat);
  CHECK(text_of(longer.limits[0]) ==
        "limit reached: template everything: longer chains than 4 operators at vertex tail, as around relu0, are no "
        "candidates");
  CHECK(proof_text(longer, 2) ==
        "the best of the partitions into the 20 groups that were looked at; a limit of template everything left others "
        "out");

  const FusionRecord cut = fused(ladder(40), chain_of(30));
  CHECK_FALSE(is_proved(cut));
  CHECK(proof_text(cut, 1).find("a limit of template everything left others out") != std::string::npos);

  // No built-in template repeats too little for what it is about: a convolution with its activation.
  Net net;
  const Graph activated = net.done({net.op("Relu", "relu", {net.conv("conv", net.input("x", {1, 4, 8, 8}), 4, 3)})});
  CHECK(is_proved(fused(activated, built_in_templates())));
}

TEST_CASE("what is drawn of a search is no longer than a picture can be, however long the network") {
  for (const std::string strategy : {"tvm", "exact"}) {
    INFO(strategy);
    const Fusion fusion = fuse_graph(chain(32'000), chain_of(8), nullptr, *find_strategy(strategy), {});
    CHECK_FALSE(fusion.fused.groups.empty());
    for (const SearchGraph& searched : fusion.record.graphs) CHECK(searched.edges.size() < 7'000);
  }
}
